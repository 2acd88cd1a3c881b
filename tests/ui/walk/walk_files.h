// SPDX-License-Identifier: GPL-3.0-or-later
// The files a walk opens and drops: sessions of any number of lanes, damaged ones, texts, models.
#pragma once

#include <QString>
#include <memory>

#include "core/model/model.h"
#include "core/session/experiment.h"

namespace kvasir::test {

class Dice;

/// A cache scheme that the tiny model can store, or, now and then, one it cannot.
CacheSpec anyScheme(Dice& dice);
QString anyText(Dice& dice);

class WalkFiles {
 public:
    explicit WalkFiles(const QString& folder);

    QString model() const { return model_; }  ///< tiny: a run takes no time
    QString session(Dice& dice);              ///< of 1..8 lanes, with a run or without
    QString hostileSession(Dice& dice);
    QString any(Dice& dice);  ///< anything a person may hand over, wrong kinds and missing files included
    QString target(Dice& dice, const QString& suffix);  ///< where to write: new, old, without suffix, impossible
    QString folderTarget(Dice& dice);

 private:
    QString next(const QString& suffix);
    QString folder_, model_;
    std::shared_ptr<const Model> loaded_;
    int n_files_ = 0;
};

}  // namespace kvasir::test
