// The header of a sealed entry: one JSON object (RFC 8259) whose members are strings, whole numbers or null.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace cucore::detail {

using JsonScalar = std::variant<std::nullptr_t, std::uint64_t, std::string>;
using JsonHeader = std::map<std::string, JsonScalar, std::less<>>;

/// Nothing if `text` is anything else. Of members that are named twice the last counts.
std::optional<JsonHeader> read_json_header(std::string_view text);

/// Members in the order of their names.
std::string write_json_header(const JsonHeader& header);

}  // namespace cucore::detail
