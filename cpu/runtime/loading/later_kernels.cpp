// Describes kernels when they are asked for: see later_kernels.hpp.
#include "cpu/runtime/loading/later_kernels.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cpu/analysis/flow/reach.hpp"
#include "cpu/ptx/parser.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {
namespace {

/// Such a kernel may call any function whose address is taken anywhere in the module: no excerpt shows which.
bool calls_through_registers(const ptx::Module& module, ptx::FunctionId kernel) {
  const std::vector<ptx::FunctionId> reached = analysis::find_reach(module, kernel).functions;
  return std::any_of(reached.begin(), reached.end(), [&](ptx::FunctionId id) {
    const std::vector<ptx::Instruction>& body = module.functions[id].body;
    return std::any_of(body.begin(), body.end(), analysis::is_indirect_call);
  });
}

/// Its id, if the module has a body of it.
std::optional<ptx::FunctionId> find_kernel(const ptx::Module& module, std::string_view name) {
  const auto found = std::find_if(module.functions.begin(), module.functions.end(), [&](const ptx::Function& function) {
    return function.is_entry && function.has_body && function.name == name;
  });
  if (found == module.functions.end()) return std::nullopt;
  return static_cast<ptx::FunctionId>(found - module.functions.begin());
}

}  // namespace

LaterKernels::LaterKernels(std::unique_ptr<LaterImage> image, int capability, std::uint32_t max_registers,
                           const ptx::Module& module, std::vector<KernelDescription>& kernels)
    : image_(std::move(image)),
      capability_(capability),
      max_registers_(max_registers),
      module_(module),
      kernels_(kernels),
      asked_(std::make_unique<std::once_flag[]>(kernels.size())) {
  for (ptx::VariableId id = 0; id < module.variables.size(); ++id) variables_.emplace(module.variables[id].name, id);
}

Result<void> LaterKernels::complete(std::size_t kernel) {
  KernelDescription& description = kernels_[kernel];
  std::call_once(asked_[kernel], [&] {
    Result<void> described = describe_now(description);
    if (described) return;
    std::string sentence = "kernel " + description.name + ":\n" + described.failure().sentence();
    report(sentence);
    description.readable = Failure(described.failure().code(), std::move(sentence));
  });
  if (description.readable) return {};
  return Failure(description.readable.failure().code(), description.readable.failure().sentence());
}

/// Its excerpt, with the values that were left out of it.
Result<std::unique_ptr<ptx::Module>> LaterKernels::read(const std::string& kernel) {
  Result<ptx::Excerpt> excerpt = image_->kernel(kernel);
  if (!excerpt) return std::move(excerpt).failure();
  ptx::ParseResult parsed = ptx::parse(*excerpt);
  if (!parsed.module) return Failure(ErrorCode::InvalidPtx, ptx::format(parsed.diagnostics));
  for (ptx::Variable& variable : parsed.module->variables)
    if (const auto known = variables_.find(variable.name); variable.initial.empty() && known != variables_.end())
      variable.initial = module_.variables[known->second].initial;
  return std::move(parsed.module);
}

Result<void> LaterKernels::describe_now(KernelDescription& kernel) {
  Result<std::unique_ptr<ptx::Module>> excerpt = read(kernel.name);
  if (!excerpt) return std::move(excerpt).failure();
  std::shared_ptr<const ptx::Module> module = *std::move(excerpt);
  std::optional<ptx::FunctionId> id = find_kernel(*module, kernel.name);
  if (id && calls_through_registers(*module, *id)) {
    Result<std::shared_ptr<const ptx::Module>> whole = image_->whole();
    if (!whole) return std::move(whole).failure();
    module = *std::move(whole);
    id = find_kernel(*module, kernel.name);
  }
  if (!id) return Failure(ErrorCode::InvalidImage, "the image has changed since it was loaded");
  for (const ptx::Variable& variable : module->variables) {
    const auto known = variables_.find(variable.name);
    if (known == variables_.end()) return Failure(ErrorCode::InvalidImage, "the image has changed since it was loaded");
    kernel.variables.push_back(known->second);
  }
  const bool must_look = must_look_at_instructions(*module);
  describe(kernel, std::move(module), *id, image_->source(), capability_, max_registers_, must_look);
  return {};
}

}  // namespace cucore::cpu::runtime
