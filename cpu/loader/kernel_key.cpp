// Digests all that object code depends on: see kernel_key.hpp.
#include "cpu/loader/kernel_key.hpp"

#include <algorithm>

#include "cpu/analysis/flow/block_shape.hpp"
#include "cpu/loader/cache/digest.hpp"
#include "cpu/loader/cache/host_identity.hpp"
#include "cpu/loader/compiler_library.hpp"

namespace cucore::cpu::loader {
namespace {

using analysis::Reach;

/// Parts with their lengths, so that what moves from one to the next is another key.
class Parts {
 public:
  void add(std::string_view part) {
    add(std::uint64_t{part.size()});
    digest_.add(part);
  }
  void add(std::uint64_t number) { digest_.add({reinterpret_cast<const char*>(&number), sizeof number}); }
  KernelKey key() { return {.digest = digest_.finish()}; }

 private:
  Digest digest_;
};

/// Checked code names its instructions by their lines.
std::string lines_of(const ptx::Module& module, const Reach& reach) {
  std::string lines;
  for (const ptx::FunctionId id : reach.functions)
    for (const ptx::Instruction& instruction : module.functions[id].body)
      lines += std::to_string(instruction.position.line) + ':' + std::to_string(instruction.position.column) + '\n';
  return lines;
}

}  // namespace

KernelKey key_of(const KernelIdentity& identity) {
  Parts parts;
  for (const std::string_view part : {identity.driver, identity.compiler, identity.host}) parts.add(part);
  parts.add(static_cast<std::uint64_t>(identity.form));
  for (const std::uint32_t extent : identity.block) parts.add(extent);
  parts.add(identity.checks);
  parts.add(std::uint64_t{identity.by_thread});
  parts.add(identity.march);
  parts.add(identity.ptx);
  return parts.key();
}

std::optional<KernelIdentity> identity_of(const ptx::Module& module, const Reach& reach,
                                          const CompileOptions& options) {
  // Never destroyed: a thread may still compile when the process ends.
  static const auto& compiler = *new std::string(build_id_of_file(compiler_library_path()));
  const std::string& driver = own_library().build_id;
  if (driver.empty() || compiler.empty()) return std::nullopt;
  KernelIdentity identity{.driver = driver,
                          .compiler = compiler,
                          .host = host_identity(options.march),
                          .form = options.form,
                          .checks = options.checks,
                          .by_thread = options.by_thread,
                          .march = options.march,
                          .ptx = kernel_text(module, reach)};
  if (options.checks != 0) identity.ptx += lines_of(module, reach);
  // The scalar form differs for blocks whose warps are in several rows.
  if (options.form != FormOfCode::Scalar || analysis::shape_of_warps(options.block).is_known())
    std::copy_n(options.block, 3, identity.block);
  return identity;
}

}  // namespace cucore::cpu::loader
