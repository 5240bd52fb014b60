// Object code made known to gdb and lldb, by the interface that they share for code made at run time.
#pragma once

#include <memory>
#include <string>

namespace cucore::cpu::loader {

/// An object file that a debugger attached to this process knows of, for as long as this lives. Thread-safe. Costs next
/// to nothing when there is no debugger.
class KnownToDebuggers {
 public:
  /// `object`: ELF whose section headers have the addresses that the sections were loaded at.
  explicit KnownToDebuggers(std::string object);
  ~KnownToDebuggers();
  KnownToDebuggers(const KnownToDebuggers&) = delete;
  KnownToDebuggers& operator=(const KnownToDebuggers&) = delete;

 private:
  struct Entry;
  std::unique_ptr<Entry> entry_;
};

}  // namespace cucore::cpu::loader
