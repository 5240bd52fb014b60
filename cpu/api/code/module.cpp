// Module management chapter.
#include "cpu/runtime/loading/module.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "cpu/api/code/variable_memory.hpp"
#include "cpu/api/entry.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/texture/texture_reference.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using cucore::cpu::Result;
using runtime::JitOptions;
using runtime::Module;
using runtime::Program;

namespace {

Context* context_of_module(CUmodule handle) {
  const auto module = runtime::find_module(handle);
  return module ? &module->context() : nullptr;
}

template <class F>
CUresult of_module(CUmodule handle, F&& call) {
  return in_own_context([&] { return context_of_module(handle); }, CUDA_ERROR_INVALID_HANDLE,
                        [&](Context&) {
                          const auto module = runtime::find_module(handle);
                          return module ? call(*module) : CUDA_ERROR_INVALID_HANDLE;
                        });
}

CUresult load(CUmodule* out, Context& context, Result<std::shared_ptr<const Program>> program) {
  if (!program) return driver_result(program.failure());
  return driver_result(Module::load(context, *std::move(program), nullptr),
                       [&](const std::shared_ptr<Module>& module) { *out = module->handle(); });
}

/// The reference of a module's variable; `at` makes it the first time.
template <class Reference, class F>
CUresult get_reference(Reference* out, CUmodule handle, const char* name, bool is_surface, F&& at,
                       EntryName entry = EntryName(__builtin_FUNCTION())) {
  const auto own = [&] { return context_of_module(handle); };
  return in_own_context(entry, own, CUDA_ERROR_INVALID_HANDLE, [&](Context&) {
    const auto module = runtime::find_module(handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t* const variable = module->find_reference(name, is_surface);
    if (!variable) return CUDA_ERROR_NOT_FOUND;
    std::shared_ptr<const void> ends_with_module;
    *out = at(variable, &ends_with_module);
    if (ends_with_module) module->keep(std::move(ends_with_module));
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuModuleLoad(CUmodule* module, const char* fname) {
  return in_context([&](Context& context) {
    if (!module || !fname) return CUDA_ERROR_INVALID_VALUE;
    return load(module, context, runtime::load_program_file(fname, context.device().capability(), {}));
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions, CUjit_option* options,
                            void** optionValues) {
  return in_context([&](Context& context) {
    if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
    const Result<JitOptions> jit = JitOptions::read(numOptions, options, optionValues);
    if (!jit) return driver_result(jit.failure());
    return load(module, context, runtime::load_program(image, 0, context.device().capability(), *jit));
  });
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) { return cuModuleLoadData(module, fatCubin); }

CUresult cuModuleUnload(CUmodule hmod) {
  return with_own_context([&] { return context_of_module(hmod); }, CUDA_ERROR_INVALID_HANDLE,
                          [&](Context&) {
                            const auto module = runtime::find_module(hmod);
                            if (!module) return CUDA_ERROR_INVALID_HANDLE;
                            if (module->is_of_library()) return CUDA_ERROR_NOT_PERMITTED;
                            module->context().printf_buffer.flush();
                            module->unload();
                            return CUDA_SUCCESS;
                          });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return initialized([&] {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;  // kernels are compiled at their first launch
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
  return of_module(hmod, [&](Module& module) {
    if (!hfunc || !name) return CUDA_ERROR_INVALID_VALUE;
    runtime::Function* const function = module.find_function(name);
    if (!function) return CUDA_ERROR_NOT_FOUND;
    if (const Result<void> known = function->complete(); !known) return driver_result(known);
    if (const Result<void> supported = check_supported(function->description()); !supported)
      return driver_result(supported);
    *hfunc = function->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule mod) {
  return of_module(mod, [&](Module& module) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned int>(module.functions().size());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions, CUmodule mod) {
  return of_module(mod, [&](Module& module) {
    if (!functions || numFunctions == 0) return CUDA_ERROR_INVALID_VALUE;
    const std::size_t count = std::min<std::size_t>(numFunctions, module.functions().size());
    for (std::size_t i = 0; i < count; ++i) functions[i] = module.functions()[i]->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name) {
  return of_module(hmod, [&](Module& module) {
    if (!name || (!dptr && !bytes)) return CUDA_ERROR_INVALID_VALUE;
    return hand_out(module.find_variable(name), dptr, bytes);
  });
}

CUresult cuModuleGetTexRef(CUtexref* pTexRef, CUmodule hmod, const char* name) {
  return get_reference(pTexRef, hmod, name, false, runtime::texture_reference_at);
}

CUresult cuModuleGetSurfRef(CUsurfref* pSurfRef, CUmodule hmod, const char* name) {
  return get_reference(pSurfRef, hmod, name, true, runtime::surface_reference_at);
}
