// Relocatable object code (ELF, as the compiler library makes it) in memory, ready to be called.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/loader/line_table.hpp"

namespace cucore::cpu::loader {

/// InvalidImage, with what it is about the object code.
Failure not_loadable(const std::string& what);

/// Owns the memory that the code runs in. Immutable once loaded.
class LoadedObject {
 public:
  /// The address of a symbol that the object uses and does not define; null if there is none.
  using Resolve = std::function<void*(std::string_view symbol)>;

  /// Fails (not_loadable) for what is not such an object or uses what cannot be resolved. Any bytes may come: nothing
  /// is read or written outside them and the memory made for them.
  static Result<std::unique_ptr<LoadedObject>> load(std::string_view object, const Resolve& resolve);

  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  /// The address of a symbol that the object defines for others, null if there is none.
  void* find(const std::string& symbol) const;

  struct FunctionRange {
    std::string symbol;
    const void* begin;
    std::size_t bytes;
  };
  /// Those that the object defines, for itself or for others.
  const std::vector<FunctionRange>& functions() const { return functions_; }

  /// With the addresses of the loaded code.
  const LineTable& lines() const { return lines_; }

  /// `object`, which this was loaded from, with the addresses of the loaded sections in their headers: what debuggers
  /// read. Debug information stays as it was, they relocate it.
  std::string with_addresses(std::string_view object) const;

  std::string_view code() const { return {static_cast<const char*>(memory_), code_bytes_}; }

 private:
  class Loader;
  LoadedObject() = default;

  void* memory_ = nullptr;  ///< instructions first, then what is only read, then what is written
  std::size_t bytes_ = 0;
  std::size_t code_bytes_ = 0;
  std::unordered_map<std::string, void*> symbols_;
  std::vector<FunctionRange> functions_;
  std::vector<void*> sections_;  ///< by index in the object; null if not loaded
  LineTable lines_;
};

}  // namespace cucore::cpu::loader
