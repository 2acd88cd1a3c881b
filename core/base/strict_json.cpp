// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/strict_json.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "core/base/guard_memory.h"

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

bool room_for_json(std::string_view text) {
    // A value is 16 bytes. While an array of them grows there are two, the new one twice as long; taking it apart makes
    // one more. A key has its node in a tree besides.
    constexpr size_t kValue = 6 * sizeof(json), kKey = 128;
    size_t n_values = 1, n_keys = 0;
    for (const char c : text) {
        n_values += c == ',' || c == '[' || c == '{';
        n_keys += c == ':';
    }
    return room_for(2 * text.size() + n_values * kValue + n_keys * kKey);
}

Result<json> parse_strict_json(std::string_view text, const std::string& what, const std::string& where) {
    const auto refuse = [&](std::string why) { return Error{ErrorCode::input, what, where, std::move(why), ""}; };
    const auto too_large = [&] {
        return Error{ErrorCode::memory, what, where, "it does not fit into memory", "Close other programs."};
    };
    if (text.empty()) return refuse("it is empty");
    if (!room_for_json(text)) return too_large();
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
        return too_large();
    }
}

}  // namespace kvasir
