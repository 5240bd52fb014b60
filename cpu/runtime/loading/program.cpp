// Loading images: see program.hpp.
#include "cpu/runtime/loading/program.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>

#include "cpu/image/image.hpp"
#include "cpu/linker/ptx_symbols.hpp"
#include "cpu/ptx/parser.hpp"
#include "cpu/runtime/loading/image_source.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {
namespace {

/// What is wrong with text that does not parse.
Failure failure_of(const ptx::ParseResult& parsed, std::string_view text) {
  const bool too_new = std::any_of(parsed.diagnostics.begin(), parsed.diagnostics.end(), [](const auto& diagnostic) {
    return diagnostic.kind == ptx::Diagnostic::Kind::UnsupportedVersion;
  });
  const bool is_ptx = text.find(".version") != std::string_view::npos;
  return Failure(too_new  ? ErrorCode::UnsupportedPtxVersion
                 : is_ptx ? ErrorCode::InvalidPtx
                          : ErrorCode::InvalidImage,
                 ptx::format(parsed.diagnostics));
}

/// A program with the module's variables, and no kernels yet.
Result<std::shared_ptr<Program>> without_kernels(std::unique_ptr<ptx::Module> ptx, const ImageSource& source,
                                                 int capability) {
  if (ptx->address_size != 64)
    return Failure(ErrorCode::InvalidPtx, "ptx: error: 32-bit addresses (.address_size 32) are not supported");
  if (Result<void> fits = check_target(source, *ptx, capability); !fits) return std::move(fits).failure();
  auto program = std::make_shared<Program>();
  bool specific = false;
  program->target = target_number(*ptx, &specific);
  program->ptx = std::move(ptx);
  return program;
}

/// PTX itself is compiled at its load and by itself, as by an H100's driver: functions that code refers to are there,
/// and what is declared as a variable of elsewhere is one here if it says how large it is. What the PTX of another
/// image lacks may be in the machine code beside it, and is said of the kernels that need it.
Result<void> make_whole(const ImageSource& source, ptx::Module& ptx) {
  if (!source.is_text || source.ptx.find(".extern") == std::string::npos) return {};
  const linker::PtxSymbols symbols(source.ptx);
  const auto is_defined = [&](std::string_view name) {
    return std::any_of(symbols.declarations().begin(), symbols.declarations().end(),
                       [&](const auto& each) { return each.defines && each.name == name; });
  };
  for (ptx::Variable& variable : ptx.variables) {
    const bool in_memory = variable.space == ptx::Space::Global || variable.space == ptx::Space::Const;
    if (in_memory && variable.linkage == ptx::Linkage::Extern && variable.size != 0 && !is_defined(variable.name))
      variable.linkage = ptx::Linkage::Visible;
  }
  for (const linker::PtxSymbols::Declaration* const missing : symbols.unresolved()) {
    const bool is_here = std::any_of(ptx.variables.begin(), ptx.variables.end(), [&](const ptx::Variable& variable) {
      return variable.name == missing->name && variable.linkage != ptx::Linkage::Extern;
    });
    if (!is_here)
      return Failure(ErrorCode::InvalidPtx, std::string("ptx: error: unresolved external ") +
                                                (missing->is_function ? "function '" : "variable '") +
                                                std::string(missing->name) + "': link the PTX with what defines it");
  }
  return {};
}

/// All of it at once.
Result<std::shared_ptr<Program>> make(const ImageSource& source, int capability, std::uint32_t max_registers) {
  ptx::ParseResult parsed = ptx::parse(source.ptx);
  if (!parsed.module) return failure_of(parsed, source.ptx);
  if (Result<void> whole = make_whole(source, *parsed.module); !whole) return std::move(whole).failure();
  Result<std::shared_ptr<Program>> program = without_kernels(std::move(parsed.module), source, capability);
  if (!program) return program;
  const std::shared_ptr<const ptx::Module>& ptx = (*program)->ptx;
  const bool must_look = must_look_at_instructions(*ptx);
  for (ptx::FunctionId id = 0; id < ptx->functions.size(); ++id) {
    const ptx::Function& function = ptx->functions[id];
    if (!function.is_entry || !function.has_body) continue;
    KernelDescription& kernel = (*program)->kernels.emplace_back(KernelDescription{.name = std::string(function.name)});
    describe(kernel, ptx, id, source, capability, max_registers, must_look);
  }
  return program;
}

/// Of an image that is read later, and goes into the cache if it is new there. Null if its variables alone do not
/// parse.
Result<std::shared_ptr<Program>> make_later(std::unique_ptr<LaterImage>& image, int capability,
                                            std::uint32_t max_registers, bool is_new) {
  ptx::ParseResult variables = ptx::parse(image->variables());
  if (!variables.module) return std::shared_ptr<Program>();
  Result<std::shared_ptr<Program>> made = without_kernels(std::move(variables.module), image->source(), capability);
  if (!made) return made;
  if (is_new) image->remember();
  Program& program = **made;
  for (const std::string& name : image->kernels()) program.kernels.push_back({.name = name});
  image->release_names();
  program.later =
      std::make_unique<LaterKernels>(std::move(image), capability, max_registers, *program.ptx, program.kernels);
  return made;
}

Result<std::shared_ptr<Program>> make(const void* image, std::size_t size, int capability, std::uint32_t max_registers,
                                      ImageStays stays, std::size_t large) {
  const std::string_view bytes =
      size != 0 ? std::string_view(static_cast<const char*>(image), size) : image::locate_image(image);
  std::unique_ptr<LaterImage> later = LaterImage::of(image, bytes, capability, stays, large);
  if (later && later->recall()) {
    Result<std::shared_ptr<Program>> made = make_later(later, capability, max_registers, false);
    if (!made || *made) return made;
  }
  Result<ImageSource> source = ptx_of_image(image, size, capability);
  if (!source) return std::move(source).failure();
  if (later && source->ptx.size() >= large && later->read(*source)) {
    Result<std::shared_ptr<Program>> made = make_later(later, capability, max_registers, true);
    if (!made || *made) return made;
    source = later->release_source();
  }
  return make(*source, capability, max_registers);
}

std::string describe_kernels(const Program& program) {
  std::string log = "cucore CPU device: " + std::to_string(program.kernels.size()) + " kernels, each ";
  log += program.later ? "read and compiled when it is first used" : "compiled at its first launch";
  for (const KernelDescription& kernel : program.kernels)
    if (!kernel.supported) log += "\n" + kernel.name + " cannot run:\n" + kernel.supported.failure().sentence();
  return log;
}

}  // namespace

int Program::find_kernel(std::string_view name) const {
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].name == name) return static_cast<int>(i);
  return -1;
}

Result<void> Program::complete(std::size_t kernel) const { return later ? later->complete(kernel) : Result<void>(); }

Result<std::shared_ptr<const Program>> load_program(const void* image, std::size_t size, int capability,
                                                    const JitOptions& options, ImageStays stays, std::size_t large) {
  const auto started = std::chrono::steady_clock::now();
  Result<std::shared_ptr<Program>> made = make(image, size, capability, options.max_registers(), stays, large);
  const std::chrono::duration<float, std::milli> took = std::chrono::steady_clock::now() - started;
  options.write_wall_time(took.count());
  if (!made) {
    options.write_error_log(made.failure().sentence());
    options.write_info_log("");
    report(made.failure().sentence());
    return std::move(made).failure();
  }
  options.write_error_log("");
  options.write_info_log(describe_kernels(**made));
  return *std::move(made);
}

Result<std::shared_ptr<const Program>> load_program_file(const char* path, int capability, const JitOptions& options) {
  std::ifstream file(path, std::ios::binary);
  const std::string image{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) return ErrorCode::FileNotFound;
  return load_program(image.data(), image.size(), capability, options);
}

}  // namespace cucore::cpu::runtime
