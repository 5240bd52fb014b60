// KeyRing: the secret keys that sign entries, and the file that they come from; python/cucore/stores/_seal.py reads it,
// too.
#include <algorithm>
#include <sstream>

#include "cucore/error.hpp"
#include "cucore/shared_store.hpp"
#include "src/files/files.hpp"

namespace cucore {
namespace {

constexpr std::size_t most_id = 64, least_key = 16;

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw ValueError({.call = "KeyRing", .message = message, .hint = hint});
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> bytes_of_hex(std::string_view text) {
  std::string bytes;
  if (text.size() % 2 != 0) return std::nullopt;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const int high = hex_digit(text[at]), low = hex_digit(text[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace

KeyRing::KeyRing(std::vector<std::pair<std::string, std::string>> keys) : keys_(std::move(keys)) {
  if (keys_.empty()) refuse("there is no key", "give at least one, with its id");
  for (const auto& [id, key] : keys_) {
    const bool is_printable = std::all_of(id.begin(), id.end(), [](unsigned char c) { return c >= 32 && c != 127; });
    if (id.empty() || id.size() > most_id || !is_printable || key.size() < least_key) {
      refuse("key '" + id + "' is of " + std::to_string(key.size()) + " bytes",
             "an id has 1 to 64 printable characters, a key at least 16 bytes");
    }
  }
}

KeyRing KeyRing::from_file(const std::filesystem::path& path) {
  std::vector<std::pair<std::string, std::string>> keys;
  std::istringstream lines(detail::read_file_or_throw(path, "the keys of a shared store"));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream fields(line.substr(0, line.find('#')));
    std::string id, hex, more;
    if (!(fields >> id)) continue;
    const std::optional<std::string> key = fields >> hex ? bytes_of_hex(hex) : std::nullopt;
    if (!key || fields >> more) {
      refuse(path.string() + ":" + std::to_string(number) + ": not 'ID HEX'", "write one key a line, its id before it");
    }
    const auto same = std::find_if(keys.begin(), keys.end(), [&](const auto& known) { return known.first == id; });
    if (same != keys.end()) {
      same->second = *key;
    } else {
      keys.emplace_back(id, *key);
    }
  }
  return KeyRing(std::move(keys));
}

const std::string* KeyRing::find(std::string_view id) const noexcept {
  const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const auto& known) { return known.first == id; });
  return found == keys_.end() ? nullptr : &found->second;
}

}  // namespace cucore
