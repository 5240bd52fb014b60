// Keys by what they were made of: first which program, by its text and options, then which compile of it.
#include "src/compile/known_keys.hpp"

#include <algorithm>
#include <list>
#include <utility>

#include "src/formats/checksum.hpp"

namespace cucore::detail {
namespace {

// Recently seen programs. The checksum only saves comparisons: programs are equal if their texts and options are.
class Programs {
 public:
  std::shared_ptr<KnownKeys> keys_of(SourceType type, const std::string& code, const ProgramOptions& options) {
    std::size_t size = code.size();
    for (const auto* texts : {&options.headers, &options.extra_sources}) {
      for (const auto& [name, text] : *texts) size += text.size();
    }
    if (size > largest_program) return std::make_shared<KnownKeys>();
    const std::uint64_t sum = checksum(code);
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(programs_.begin(), programs_.end(), [&](const Program& program) {
      return program.sum == sum && program.type == type && program.code == code && program.options == options;
    });
    if (known != programs_.end()) {
      programs_.splice(programs_.begin(), programs_, known);
    } else {
      if (programs_.size() == most_programs) programs_.pop_back();
      programs_.push_front({sum, type, code, options, std::make_shared<KnownKeys>()});
    }
    return programs_.front().keys;
  }

 private:
  static constexpr std::size_t most_programs = 64;
  static constexpr std::size_t largest_program = std::size_t{256} << 10;  // 16 MiB in all

  struct Program {
    std::uint64_t sum;
    SourceType type;
    std::string code;
    ProgramOptions options;
    std::shared_ptr<KnownKeys> keys;
  };

  std::mutex mutex_;
  std::list<Program> programs_;  // the one used last is the first
};

}  // namespace

std::shared_ptr<KnownKeys> KnownKeys::of(SourceType type, const std::string& code, const ProgramOptions& options) {
  static auto* programs = new Programs;  // never destroyed, like everything that a late compile may need
  return programs->keys_of(type, code, options);
}

std::vector<KnownKeys::Known>::iterator KnownKeys::at(CodeType target, const std::string& arch,
                                                      const std::vector<std::string>& names) {
  return std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
    return known.target == target && known.arch == arch && known.name_expressions == names;
  });
}

std::shared_ptr<const CompileKey> KnownKeys::find(CodeType target, const std::string& arch,
                                                  const std::vector<std::string>& name_expressions) {
  std::shared_ptr<const KeyAndFiles> found;
  {
    const std::lock_guard lock(mutex_);
    const auto known = at(target, arch, name_expressions);
    if (known == known_.end()) return nullptr;
    found = known->found;
  }
  return found->still_holds() ? found->key : nullptr;
}

void KnownKeys::remember(CodeType target, const std::string& arch, const std::vector<std::string>& name_expressions,
                         KeyAndFiles found) {
  constexpr std::size_t most_keys = 64;
  if (!found.files->is_settled()) return;
  auto kept = std::make_shared<const KeyAndFiles>(std::move(found));
  const std::lock_guard lock(mutex_);
  const auto known = at(target, arch, name_expressions);
  if (known != known_.end()) {
    known->found = std::move(kept);
    return;
  }
  if (known_.size() == most_keys) known_.clear();
  known_.push_back({target, arch, name_expressions, std::move(kept)});
}

}  // namespace cucore::detail
