// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/strict_json.h"

#include <fmt/format.h>

#include <new>
#include <set>
#include <vector>

namespace kvasir {
namespace {

using nlohmann::json;

struct Trouble {
    std::string why;
};

/// Sees every key while the document is read; the finished document has forgotten the first of two equal ones.
class Watch {
 public:
    bool operator()(int depth, json::parse_event_t event, const json& parsed) {
        switch (event) {
            case json::parse_event_t::object_start:
                keys_.emplace_back();
                [[fallthrough]];
            case json::parse_event_t::array_start:
                if (depth >= kMostJsonLevels)
                    throw Trouble{fmt::format("it is nested more than {} levels deep", kMostJsonLevels)};
                break;
            case json::parse_event_t::object_end:
                keys_.pop_back();
                break;
            case json::parse_event_t::key:
                if (!keys_.back().insert(parsed.get_ref<const std::string&>()).second)
                    throw Trouble{fmt::format("the key {} stands twice in one object", parsed.dump().substr(0, 80))};
                break;
            default:
                break;
        }
        return true;
    }

 private:
    std::vector<std::set<std::string>> keys_;
};

/// The library's own sentence without its "[json.exception...]" in front.
std::string plain(const std::string& message) {
    const size_t end = message.find("] ");
    return end == std::string::npos ? message : message.substr(end + 2);
}

}  // namespace

Result<json> parse_strict_json(std::string_view text, const std::string& what, const std::string& where) {
    const auto refuse = [&](std::string why) { return Error{ErrorCode::input, what, where, std::move(why), ""}; };
    if (text.empty()) return refuse("it is empty");
    try {
        Watch watch;
        return json::parse(text, [&](int depth, json::parse_event_t event, const json& parsed) {
            return watch(depth, event, parsed);
        });
    } catch (const Trouble& trouble) {
        return refuse(trouble.why);
    } catch (const json::exception& e) {
        return refuse("it is not JSON, " + plain(e.what()));
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::memory, what, where, "it does not fit into memory", "Close other programs."};
    }
}

}  // namespace kvasir
