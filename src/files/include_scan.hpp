// What a C++ text could include, read from its directives without preprocessing it: what is behind #if or in a comment
// counts too, so the answer is never too small.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cucore::detail {

struct IncludeScan {
  /// Names between quotes or angle brackets, of #include and its relatives and of __has_include tests, sorted, once
  /// each.
  std::vector<std::string> names = {};
  /// Why the text's result cannot be known from the names: "line 12 includes a file that a macro names"; else empty.
  std::string unknowable = {};
  /// The reason is a computed include only: within the toolkit's own folders that can be bounded.
  bool computed_include = false;
};

IncludeScan scan_includes(std::string_view text);

}  // namespace cucore::detail
