// Keys of programs with one source and one set of options, so that the next compile, or the next Program made from the
// same, need not read and hash its inputs again.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/compile/compile_key.hpp"

namespace cucore::detail {

/// Thread-safety: all members may be called from any thread.
class KnownKeys {
 public:
  /// Those of all programs of this type, code and options; the same object for equal programs while it is remembered.
  static std::shared_ptr<KnownKeys> of(SourceType type, const std::string& code, const ProgramOptions& options);

  /// The key of a compile to `target` for `arch`, if it is known and making it again would give the same; else null.
  std::shared_ptr<const CompileKey> find(CodeType target, const std::string& arch,
                                         const std::vector<std::string>& name_expressions);
  /// Remembers a key, unless a change of its files might go unnoticed.
  void remember(CodeType target, const std::string& arch, const std::vector<std::string>& name_expressions,
                KeyAndFiles found);

 private:
  struct Known {
    CodeType target;
    std::string arch;
    std::vector<std::string> name_expressions;
    std::shared_ptr<const KeyAndFiles> found;
  };
  std::vector<Known>::iterator at(CodeType target, const std::string& arch, const std::vector<std::string>& names);

  std::mutex mutex_;
  std::vector<Known> known_;  // few: one per target and list of names
};

}  // namespace cucore::detail
