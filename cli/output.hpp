// What commands print: JSON for programs, colours for people at a terminal.
#pragma once

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cucore::cli {

/// `text` as a JSON string, with its quotes. Bytes that are no UTF-8 are replaced by "?".
std::string json_text(std::string_view text);

/// A JSON object, its members in the order in which they came.
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value) { return raw(name, json_text(value)); }
  JsonObject& number(std::string_view name, unsigned long long value) { return raw(name, std::to_string(value)); }
  JsonObject& flag(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  /// `value` is JSON already.
  JsonObject& raw(std::string_view name, const std::string& value);
  std::string str() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

/// A JSON array of elements that are JSON already.
std::string json_array(const std::vector<std::string>& values);

/// Keys of entries that were not taken, and why.
using Rejected = std::vector<std::pair<std::string, std::string>>;
std::string json_of(const Rejected& rejected);
/// A line each.
void print(const Rejected& rejected);

/// `text` in a colour of terminals ("32": green), if `out` is one and NO_COLOR is not set.
std::string coloured(std::FILE* out, const char* colour, std::string_view text);

/// How far long work is: a line on standard error that is written over, if that is a terminal, and that is gone at the
/// end. Thread-safe.
class Progress {
 public:
  Progress(std::string what, std::size_t total) : what_(std::move(what)), total_(total) { show(); }
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One more is done.
  void advance();

 private:
  void show() const;

  std::string what_;
  std::size_t total_ = 0;
  std::size_t done_ = 0;
  std::mutex mutex_;
};

}  // namespace cucore::cli
