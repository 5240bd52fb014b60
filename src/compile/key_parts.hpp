// The parts of a cache key: each input with a label, hashed by itself, so that a miss can be explained by comparing
// them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cucore/program_cache.hpp"
#include "cucore/toolkit.hpp"
#include "src/formats/sha256.hpp"

namespace cucore::detail {

class KeyParts {
 public:
  /// The texts with their sizes, so that different lists never give the same text; hashed if that is shorter.
  void add(std::string label, const std::vector<std::string>& texts) {
    constexpr std::size_t short_enough = 128;
    std::string all = "=";  // not the beginning of a digest
    for (const std::string& text : texts) all += sized(text);
    parts_.emplace_back(std::move(label), all.size() <= short_enough ? std::move(all) : to_hex(sha256(all)));
  }
  /// A digest that exists already, e.g. of a header.
  void add_digest(std::string label, std::string digest) { parts_.emplace_back(std::move(label), std::move(digest)); }
  void add_library(std::string label, const ToolkitLibrary& library) {
    add(std::move(label), {std::to_string(library.major), std::to_string(library.minor), library.build});
  }

  /// The key of all parts; with `uncacheable` set, one that has no hex.
  CompileKey finish(std::string uncacheable = {}) {
    CompileKey key{.hex = {}, .uncacheable = std::move(uncacheable), .parts = std::move(parts_)};
    if (!key.uncacheable.empty()) return key;
    Sha256 hash;
    for (const auto& [label, digest] : key.parts) {
      hash.update(sized(label));
      hash.update(sized(digest));
    }
    key.hex = to_hex(hash.finish());
    return key;
  }

 private:
  static std::string sized(std::string_view text) { return std::to_string(text.size()) + ":" + std::string(text); }

  std::vector<std::pair<std::string, std::string>> parts_;
};

}  // namespace cucore::detail
