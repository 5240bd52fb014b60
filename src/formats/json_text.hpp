// How texts stand in JSON (RFC 8259), in traces and in the headers of sealed entries. Their bytes stay as they are.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace cucore::detail {

/// Appends `value` with its quotes to `json`.
inline void append_json_text(std::string& json, std::string_view value) {
  json += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      json += escape.data();
    } else {
      json += c;
    }
  }
  json += '"';
}

}  // namespace cucore::detail
