// src/toolkit/abi.hpp and functions.def against the real nvrtc.h, nvJitLink.h and nvvm.h.
#include <gtest/gtest.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include <nvvm.h>

#include <type_traits>

#include "src/toolkit/library.hpp"

// Of toolkit 13.3, which the header of 13.0 does not have yet; the same declarations as there.
extern "C" nvJitLinkResult nvJitLinkGetLinkedLTOIRSize(nvJitLinkHandle handle, size_t* size);
extern "C" nvJitLinkResult nvJitLinkGetLinkedLTOIR(nvJitLinkHandle handle, void* ltoir);

namespace cucore::toolkit {
namespace {

static_assert(std::is_same_v<NvrtcProgram, nvrtcProgram>);
static_assert(std::is_same_v<NvJitLinkHandle, nvJitLinkHandle>);
static_assert(std::is_same_v<NvvmProgram, nvvmProgram>);
static_assert(sizeof(NvvmResult) == sizeof(nvvmResult));
static_assert(sizeof(NvrtcResult) == sizeof(nvrtcResult));
static_assert(sizeof(NvJitLinkResult) == sizeof(nvJitLinkResult));
static_assert(sizeof(NvJitLinkInput) == sizeof(nvJitLinkInputType));

TEST(toolkit_abi, names_and_numbers_of_results_are_the_headers) {
#define SAME(value) EXPECT_EQ(name_of(static_cast<NvrtcResult>(value)), #value)
  SAME(NVRTC_SUCCESS);
  SAME(NVRTC_ERROR_OUT_OF_MEMORY);
  SAME(NVRTC_ERROR_PROGRAM_CREATION_FAILURE);
  SAME(NVRTC_ERROR_INVALID_INPUT);
  SAME(NVRTC_ERROR_INVALID_PROGRAM);
  SAME(NVRTC_ERROR_INVALID_OPTION);
  SAME(NVRTC_ERROR_COMPILATION);
  SAME(NVRTC_ERROR_BUILTIN_OPERATION_FAILURE);
  SAME(NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
  SAME(NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
  SAME(NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
  SAME(NVRTC_ERROR_INTERNAL_ERROR);
  SAME(NVRTC_ERROR_TIME_FILE_WRITE_FAILED);
  SAME(NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED);
  SAME(NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED);
  SAME(NVRTC_ERROR_PCH_CREATE);
  SAME(NVRTC_ERROR_CANCELLED);
  SAME(NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED);
#undef SAME
#define SAME(value) EXPECT_EQ(name_of(static_cast<NvJitLinkResult>(value)), #value)
  SAME(NVJITLINK_SUCCESS);
  SAME(NVJITLINK_ERROR_UNRECOGNIZED_OPTION);
  SAME(NVJITLINK_ERROR_MISSING_ARCH);
  SAME(NVJITLINK_ERROR_INVALID_INPUT);
  SAME(NVJITLINK_ERROR_PTX_COMPILE);
  SAME(NVJITLINK_ERROR_NVVM_COMPILE);
  SAME(NVJITLINK_ERROR_INTERNAL);
  SAME(NVJITLINK_ERROR_THREADPOOL);
  SAME(NVJITLINK_ERROR_UNRECOGNIZED_INPUT);
  SAME(NVJITLINK_ERROR_FINALIZE);
  SAME(NVJITLINK_ERROR_NULL_INPUT);
  SAME(NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS);
  SAME(NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  SAME(NVJITLINK_ERROR_ARCH_MISMATCH);
  SAME(NVJITLINK_ERROR_OUTDATED_LIBRARY);
  SAME(NVJITLINK_ERROR_MISSING_FATBIN);
  SAME(NVJITLINK_ERROR_UNRECOGNIZED_ARCH);
  SAME(NVJITLINK_ERROR_UNSUPPORTED_ARCH);
  SAME(NVJITLINK_ERROR_LTO_NOT_ENABLED);
#undef SAME
#define SAME(value) EXPECT_EQ(name_of(static_cast<NvvmResult>(value)), #value)
  SAME(NVVM_SUCCESS);
  SAME(NVVM_ERROR_OUT_OF_MEMORY);
  SAME(NVVM_ERROR_PROGRAM_CREATION_FAILURE);
  SAME(NVVM_ERROR_IR_VERSION_MISMATCH);
  SAME(NVVM_ERROR_INVALID_INPUT);
  SAME(NVVM_ERROR_INVALID_PROGRAM);
  SAME(NVVM_ERROR_INVALID_IR);
  SAME(NVVM_ERROR_INVALID_OPTION);
  SAME(NVVM_ERROR_NO_MODULE_IN_PROGRAM);
  SAME(NVVM_ERROR_COMPILATION);
  SAME(NVVM_ERROR_CANCELLED);
#undef SAME
  EXPECT_EQ(static_cast<int>(NvrtcResult::pch_create_heap_exhausted), NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED);
  EXPECT_EQ(static_cast<int>(NvrtcResult::no_pch_create_attempted), NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED);
  EXPECT_EQ(static_cast<int>(NvJitLinkInput::ptx), NVJITLINK_INPUT_PTX);
  EXPECT_EQ(static_cast<int>(NvJitLinkInput::library), NVJITLINK_INPUT_LIBRARY);
  EXPECT_EQ(static_cast<int>(NvJitLinkInput::any), NVJITLINK_INPUT_ANY);
}

// The parameters of each function, with the enums' names taken for the headers'.
template <class T>
struct Theirs {
  using Type = T;
};
template <>
struct Theirs<NvJitLinkInput> {
  using Type = nvJitLinkInputType;
};
template <class F>
struct Parameters;
template <class R, class... A>
struct Parameters<R (*)(A...)> {
  using Type = void(typename Theirs<A>::Type...);
};

TEST(toolkit_abi, functions_take_what_the_headers_say) {
#define NVRTC_FUNCTION(name, version, parameters) \
  static_assert(std::is_same_v<Parameters<decltype(NvrtcTable::name)>::Type, Parameters<decltype(&::name)>::Type>);
#define NVJITLINK_FUNCTION(name, version, parameters) \
  static_assert(std::is_same_v<Parameters<decltype(NvJitLinkTable::name)>::Type, Parameters<decltype(&::name)>::Type>);
#define NVVM_FUNCTION(name, version, parameters) \
  static_assert(std::is_same_v<Parameters<decltype(NvvmTable::name)>::Type, Parameters<decltype(&::name)>::Type>);
#include "src/toolkit/functions.def"
#undef NVRTC_FUNCTION
#undef NVJITLINK_FUNCTION
#undef NVVM_FUNCTION
}

}  // namespace
}  // namespace cucore::toolkit
