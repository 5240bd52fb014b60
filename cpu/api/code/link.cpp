// The linker part of the module chapter: PTX modules into one image, which is PTX again.
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/loading/ptx_link.hpp"
#include "cpu/runtime/objects/device.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

namespace {

template <class F>
CUresult of_link(CUlinkState handle, F&& call) {
  return initialized([&] {
    const auto link = runtime::find_link(handle);
    return link ? call(*link) : CUDA_ERROR_INVALID_HANDLE;
  });
}

int target_capability() { return runtime::devices().front()->capability(); }

}  // namespace

CUresult cuLinkCreate(unsigned int numOptions, CUjit_option* options, void** optionValues, CUlinkState* stateOut) {
  return cuLinkCreate_v2(numOptions, options, optionValues, stateOut);
}

CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option* options, void** optionValues, CUlinkState* stateOut) {
  return in_context([&](Context&) {
    if (!stateOut) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(
        runtime::JitOptions::read(numOptions, options, optionValues),
        [&](const runtime::JitOptions& jit) { *stateOut = runtime::create_link(jit, target_capability()); });
  });
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                       unsigned int numOptions, CUjit_option* options, void** optionValues) {
  return cuLinkAddData_v2(state, type, data, size, name, numOptions, options, optionValues);
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                          unsigned int numOptions, CUjit_option* options, void** optionValues) {
  return of_link(state, [&](runtime::LinkState& link) {
    const auto of_input = runtime::JitOptions::read(numOptions, options, optionValues);
    if (!of_input) return driver_result(of_input.failure());
    return driver_result(link.add(type, data, size, name, *of_input));
  });
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int numOptions,
                       CUjit_option* options, void** optionValues) {
  return cuLinkAddFile_v2(state, type, path, numOptions, options, optionValues);
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int numOptions,
                          CUjit_option* options, void** optionValues) {
  return of_link(state, [&](runtime::LinkState& link) {
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(path, std::ios::binary);
    const std::string data{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file.is_open() || file.bad()) return CUDA_ERROR_FILE_NOT_FOUND;
    const auto of_input = runtime::JitOptions::read(numOptions, options, optionValues);
    if (!of_input) return driver_result(of_input.failure());
    return driver_result(link.add(type, data.data(), data.size(), path, *of_input));
  });
}

CUresult cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) {
  return of_link(state, [&](runtime::LinkState& link) {
    if (!cubinOut) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(link.complete(), [&](std::string_view image) {
      *cubinOut = const_cast<char*>(image.data());
      if (sizeOut) *sizeOut = image.size();
    });
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return initialized([&] { return driver_result(runtime::destroy_link(state)); });
}
