// Modules and libraries: what loads, what is found in it, and which error with which log answers what does not load.
#include <cstring>

#include "cpu/api/cucore_cpu.h"
#include "cpu/image/cubin.hpp"
#include "cpu/tests/api/driver.hpp"
#include "cpu/tests/api/fat_binaries.hpp"

namespace {

class Modules : public DriverTest {
 protected:
  /// Loads text and keeps the error log.
  CUresult load(const std::string& image) {
    char buffer[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {buffer, reinterpret_cast<void*>(sizeof buffer)};
    CUmodule loaded = nullptr;
    const CUresult result = cuModuleLoadDataEx(&loaded, image.c_str(), 2, options, values);
    log = buffer;
    EXPECT_EQ(log.size(), reinterpret_cast<std::uintptr_t>(values[1]));
    return result;
  }
  static std::string with_body(const std::string& body, const std::string& head = ".version 8.0\n.target sm_80\n") {
    return head + ".address_size 64\n.visible .entry broken()\n{\n" + body + "\nret;\n}\n";
  }
  std::string log;
};

TEST_F(Modules, a_syntax_error_is_invalid_ptx_with_its_line) {
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, load(with_body("this is no instruction;")));
  EXPECT_NE(std::string::npos, log.find("ptx:6")) << log;
  EXPECT_EQ(CUDA_ERROR_INVALID_IMAGE, load("this is no PTX"));
}

TEST_F(Modules, ptx_of_a_newer_isa_is_an_unsupported_version) {
  EXPECT_EQ(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, load(with_body("", ".version 99.0\n.target sm_80\n")));
}

TEST_F(Modules, ptx_of_a_newer_minor_version_loads_and_even_an_empty_kernel_has_registers) {
  CUmodule loaded = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&loaded, with_body("", ".version 9.12\n.target sm_80\n").c_str()));
  CUfunction kernel = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&kernel, loaded, "broken"));
  int registers = 0;
  EXPECT_EQ(CUDA_SUCCESS, cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel));
  EXPECT_GT(registers, 0);
  EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(loaded));
}

TEST_F(Modules, ptx_for_a_newer_architecture_says_which) {
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, load(with_body("", ".version 8.6\n.target sm_100\n")));
  EXPECT_NE(std::string::npos, log.find("sm_100")) << log;
}

TEST_F(Modules, a_cubin_for_a_newer_architecture_is_no_binary_for_this_gpu) {
  const std::string cubin = cucore::cpu::image::write_cubin(with_body("", ".version 8.6\n.target sm_100\n"), 100);
  EXPECT_EQ(CUDA_ERROR_NO_BINARY_FOR_GPU, load(cubin));
  EXPECT_NE(std::string::npos, log.find("sm_100")) << log;
  EXPECT_EQ(CUDA_SUCCESS, load(cucore::cpu::image::write_cubin(with_body(""), 80)));
}

constexpr const char* exotic = R"(.version 8.6
.target sm_80
.address_size 64
.func exotic()
{
  tcgen05.wait::ld.sync.aligned;
  ret;
}
.visible .entry one()
{
  call exotic, ();
  ret;
}
.visible .entry other()
{
  ret;
}
)";

TEST_F(Modules, an_instruction_without_generator_concerns_only_the_kernels_that_reach_it) {
  char log_buffer[4096] = "";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log_buffer, reinterpret_cast<void*>(sizeof log_buffer)};
  CUmodule loaded = nullptr;
  ASSERT_OK(cuModuleLoadDataEx(&loaded, exotic, 2, options, values));
  const std::string told = log_buffer;
  EXPECT_NE(std::string::npos, told.find("one cannot run:\nptx:6: error: tcgen05.wait::ld.sync.aligned")) << told;

  CUfunction function = nullptr;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuModuleGetFunction(&function, loaded, "one"));
  char report[1024] = "";
  cucore_cpu_last_report(report, sizeof report);
  EXPECT_NE(nullptr, std::strstr(report, "kernel one:\nptx:6: error: tcgen05")) << report;

  ASSERT_OK(cuModuleGetFunction(&function, loaded, "other"));
  ASSERT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  ASSERT_OK(cuModuleUnload(loaded));
}

TEST_F(Modules, kernels_that_cannot_run_are_counted_but_neither_given_by_libraries_nor_launched) {
  CUlibrary library = nullptr;
  ASSERT_OK(cuLibraryLoadData(&library, exotic, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuLibraryGetKernel(&kernel, library, "one"));
  ASSERT_OK(cuLibraryGetKernel(&kernel, library, "other"));
  CUkernel all[2] = {};
  ASSERT_OK(cuLibraryEnumerateKernels(all, 2, library));
  for (CUkernel each : all) {
    const char* name = nullptr;
    ASSERT_OK(cuKernelGetName(&name, each));
    const CUresult result =
        cuLaunchKernel(reinterpret_cast<CUfunction>(each), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    EXPECT_EQ(std::strcmp(name, "one") ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED, result) << name;
  }
  ASSERT_OK(cuCtxSynchronize());
  ASSERT_OK(cuLibraryUnload(library));
}

TEST_F(Modules, garbage_is_an_invalid_image) {
  const char bytes[] = "\001\002\003\004garbage";
  CUmodule loaded = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&loaded, bytes));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&loaded, nullptr));
  EXPECT_EQ(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&loaded, "/no/such/file"));
}

TEST_F(Modules, unknown_jit_options_are_refused) {
  CUjit_option options[] = {unknown<CUjit_option>(999)};
  void* values[] = {nullptr};
  CUmodule loaded = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&loaded, kernels_ptx().c_str(), 1, options, values));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&loaded, kernels_ptx().c_str(), 1, nullptr, nullptr));
}

TEST_F(Modules, a_name_that_is_not_there_is_not_found) {
  kernel("saxpy");
  CUfunction function = nullptr;
  CUdeviceptr memory = 0;
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "nothing"));
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&memory, nullptr, module, "nothing"));
}

TEST_F(Modules, variables_hold_their_initial_values_and_addresses) {
  int* const out = device_array<int>(3);
  ASSERT_OK(launch(kernel("read_globals"), 1, 1, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(41, out[0]) << "through a pointer initialised with another variable's address";
  EXPECT_EQ(1, out[1]);
  EXPECT_EQ(7, out[2]);
  CUdeviceptr counter = 0;
  std::size_t size = 0;
  ASSERT_OK(cuModuleGetGlobal(&counter, &size, module, "counter"));
  EXPECT_EQ(sizeof(int), size);
  int value = 0;
  ASSERT_OK(cuMemcpyDtoH(&value, counter, sizeof value));
  EXPECT_EQ(42, value);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(counter)) << "a module's memory is the module's";
}

TEST_F(Modules, functions_know_their_parameters_and_limits) {
  const CUfunction mixed = kernel("mixed");
  const std::size_t offsets[] = {0, 8, 16, 24};
  const std::size_t sizes[] = {1, 8, 2, 8};
  for (std::size_t i = 0; i < 4; ++i) {
    std::size_t offset = 99;
    std::size_t size = 99;
    ASSERT_OK(cuFuncGetParamInfo(mixed, i, &offset, &size));
    EXPECT_EQ(offsets[i], offset);
    EXPECT_EQ(sizes[i], size);
  }
  std::size_t offset = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(mixed, 4, &offset, nullptr));
  int threads = 0;
  ASSERT_OK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("at_most_64")));
  EXPECT_EQ(64, threads);
  const char* name = nullptr;
  ASSERT_OK(cuFuncGetName(&name, mixed));
  EXPECT_STREQ("mixed", name);
}

TEST_F(Modules, a_library_has_no_function_that_hosts_call) {
  int has_unified = 1;
  EXPECT_OK(cuDeviceGetAttribute(&has_unified, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, device));
  EXPECT_EQ(0, has_unified);
  CUlibrary library = nullptr;
  ASSERT_OK(cuLibraryLoadData(&library, kernels_ptx().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  void* function = nullptr;
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuLibraryGetUnifiedFunction(&function, library, "set_to"));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLibraryGetUnifiedFunction(&function, library, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLibraryGetUnifiedFunction(nullptr, library, "set_to"));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetUnifiedFunction(&function, garbage<CUlibrary>(), "set_to"));
  ASSERT_OK(cuLibraryUnload(library));
}

TEST_F(Modules, a_library_serves_every_context) {
  CUlibrary library = nullptr;
  CUkernel set_to = nullptr;
  ASSERT_OK(cuLibraryLoadData(&library, kernels_ptx().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  ASSERT_OK(cuLibraryGetKernel(&set_to, library, "set_to"));
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&set_to, library, "nothing"));
  unsigned int count = 0;
  ASSERT_OK(cuLibraryGetKernelCount(&count, library));
  std::vector<CUkernel> all(count);
  ASSERT_OK(cuLibraryEnumerateKernels(all.data(), count, library));
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device));
  CUdeviceptr there = 0;
  CUdeviceptr here = 0;
  ASSERT_OK(cuLibraryGetGlobal(&there, nullptr, library, "counter"));
  int* out = device_array<int>(1);
  ASSERT_OK(launch(reinterpret_cast<CUfunction>(set_to), 1, 1, nullptr, out, 4));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(4, *out);
  ASSERT_OK(cuCtxDestroy(other));
  ASSERT_OK(cuLibraryGetGlobal(&here, nullptr, library, "counter"));
  CUfunction function = nullptr;
  ASSERT_OK(cuKernelGetFunction(&function, set_to));
  out = device_array<int>(1);
  ASSERT_OK(launch(function, 1, 1, nullptr, out, 5));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(5, *out);
  EXPECT_OK(cuLibraryUnload(library));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, launch(reinterpret_cast<CUfunction>(set_to), 1, 1, nullptr, out, 4));
}

TEST_F(Modules, a_kernels_attribute_holds_in_every_context_of_the_device) {
  CUlibrary library = nullptr;
  CUkernel block_sum = nullptr;
  ASSERT_OK(cuLibraryLoadData(&library, kernels_ptx().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  ASSERT_OK(cuLibraryGetKernel(&block_sum, library, "block_sum"));
  const auto attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  ASSERT_OK(cuKernelSetAttribute(attribute, 100000, block_sum, device));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuKernelSetAttribute(attribute, 1 << 20, block_sum, device));
  int value = 0;
  ASSERT_OK(cuKernelGetAttribute(&value, attribute, block_sum, device));
  EXPECT_EQ(100000, value);
  CUfunction function = nullptr;
  ASSERT_OK(cuKernelGetFunction(&function, block_sum));
  ASSERT_OK(cuFuncGetAttribute(&value, attribute, function));
  EXPECT_EQ(100000, value);
  EXPECT_OK(cuLibraryUnload(library));
}

struct LinkOf {
  CUresult result = CUDA_SUCCESS;
  std::string log;
  std::string image;
};

// Links these bodies, each under a header of its own, named "a", "b" and so on.
LinkOf link_of(const std::vector<std::string>& bodies) {
  LinkOf linked;
  std::vector<char> log(4096);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUlinkState link = nullptr;
  EXPECT_OK(cuLinkCreate(2, options, values, &link));
  char name[] = "a";
  for (const std::string& body : bodies) {
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n" + body;
    EXPECT_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, name, 0, nullptr, nullptr));
    ++name[0];
  }
  void* image = nullptr;
  std::size_t size = 0;
  linked.result = cuLinkComplete(link, &image, &size);
  if (linked.result == CUDA_SUCCESS) linked.image.assign(static_cast<const char*>(image), size);
  EXPECT_OK(cuLinkDestroy(link));
  linked.log = log.data();
  return linked;
}

const std::string constant = ".func (.param .b32 r) constant()\n{\nst.param.b32 [r], ";
const std::string call_of_constant = "{ .param .b32 ret; call.uni (ret), constant; ld.param.b32 %v, [ret]; }\n";

std::string kernel_text(const std::string& name) {
  return ".visible .entry " + name + "(.param .u64 out)\n{\n.reg .b32 %v; .reg .b64 %p;\nld.param.u64 %p, [out];\n" +
         call_of_constant + "st.global.u32 [%p], %v;\nret;\n}\n";
}

TEST_F(Modules, a_link_keeps_private_names_of_its_inputs_apart) {
  const LinkOf linked =
      link_of({constant + "3;\nret;\n}\n" + kernel_text("three"), constant + "4;\nret;\n}\n" + kernel_text("four")});
  ASSERT_OK(linked.result) << linked.log;
  ASSERT_OK(cuModuleLoadData(&module, linked.image.data()));
  int* const out = device_array<int>(2);
  ASSERT_OK(launch(kernel("three"), 1, 1, nullptr, out));
  ASSERT_OK(launch(kernel("four"), 1, 1, nullptr, out + 1));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(3, out[0]);
  EXPECT_EQ(4, out[1]);
}

TEST_F(Modules, a_link_keeps_one_of_several_weak_definitions) {
  const std::string weak = ".weak .global .align 4 .u32 cell = 5;\n.weak " + constant;
  const LinkOf linked =
      link_of({weak + "3;\nret;\n}\n" + kernel_text("first"), weak + "3;\nret;\n}\n" + kernel_text("second")});
  ASSERT_OK(linked.result) << linked.log;
  ASSERT_OK(cuModuleLoadData(&module, linked.image.data()));
  int* const out = device_array<int>(1);
  ASSERT_OK(launch(kernel("second"), 1, 1, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(3, *out);
}

TEST_F(Modules, a_link_names_symbols_that_are_undefined_or_defined_twice_and_their_inputs) {
  const LinkOf undefined = link_of({".extern .func (.param .b32 r) constant();\n" + kernel_text("lonely")});
  EXPECT_NE(CUDA_SUCCESS, undefined.result);
  EXPECT_NE(std::string::npos, undefined.log.find("'constant' in 'a'")) << undefined.log;
  const std::string strong = ".visible " + constant + "3;\nret;\n}\n";
  const LinkOf twice = link_of({strong, strong});
  EXPECT_NE(CUDA_SUCCESS, twice.result);
  EXPECT_NE(std::string::npos, twice.log.find("'constant' in 'b', first defined in 'a'")) << twice.log;
  // What is declared and never used may be undefined.
  EXPECT_OK(link_of({".extern .func (.param .b32 r) constant();\n", ".visible .global .u32 cell;\n"}).result);
}

TEST_F(Modules, managed_variables_of_a_library_are_there_before_any_context_and_the_same_in_all) {
  CUcontext first = nullptr, second = nullptr;
  ASSERT_OK(cuCtxPopCurrent(&first));
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUdeviceptr address = 0, again = 0;
  std::size_t size = 0;
  ASSERT_OK(cuLibraryLoadData(&library, kernels_ptx().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  ASSERT_OK(cuLibraryGetManaged(&address, &size, library, "shared_with_host"));
  EXPECT_EQ(sizeof(int), size);
  int& shared = *reinterpret_cast<int*>(address);
  EXPECT_EQ(7, shared);
  shared = 99;
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&again, nullptr, library, "counter"));
  ASSERT_OK(cuCtxSetCurrent(first));
  ASSERT_OK(cuLibraryGetGlobal(&again, nullptr, library, "shared_with_host"));
  EXPECT_EQ(address, again);
  ASSERT_OK(cuLibraryGetKernel(&kernel, library, "read_globals"));
  int* const out = device_array<int>(3);
  ASSERT_OK(launch(reinterpret_cast<CUfunction>(kernel), 1, 1, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(99, out[2]);
  ASSERT_OK(cuCtxCreate(&second, nullptr, 0, device));
  ASSERT_OK(cuLibraryGetGlobal(&again, nullptr, library, "shared_with_host"));
  EXPECT_EQ(address, again);
  ASSERT_OK(cuCtxDestroy(second));
  EXPECT_EQ(99, shared);
  ASSERT_OK(cuLibraryUnload(library));
}

TEST_F(Modules, linked_modules_see_each_others_functions) {
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
  const std::string caller =
      head +
      ".extern .func (.param .b32 r) seven();\n"
      ".visible .entry call_it(.param .u64 out)\n{\n.reg .b32 %v; .reg .b64 %p;\n"
      "ld.param.u64 %p, [out];\n{ .param .b32 ret; call.uni (ret), seven; ld.param.b32 %v, [ret]; }\n"
      "st.global.u32 [%p], %v;\nret;\n}\n";
  const std::string callee = head + ".visible .func (.param .b32 r) seven()\n{\nst.param.b32 [r], 7;\nret;\n}\n";
  CUlinkState link = nullptr;
  ASSERT_OK(cuLinkCreate(0, nullptr, nullptr, &link));
  ASSERT_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(caller.c_str()), caller.size() + 1, "caller", 0,
                          nullptr, nullptr));
  ASSERT_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(callee.c_str()), callee.size() + 1, "callee", 0,
                          nullptr, nullptr));
  void* image = nullptr;
  std::size_t size = 0;
  ASSERT_OK(cuLinkComplete(link, &image, &size));
  ASSERT_OK(cuModuleLoadData(&module, image));
  ASSERT_OK(cuLinkDestroy(link));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(link));
  int* const out = device_array<int>(1);
  ASSERT_OK(launch(kernel("call_it"), 1, 1, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(7, *out);
}

constexpr const char* newer_ptx = R"(.version 8.7
.target sm_120
.address_size 64
.visible .entry seven(.param .u64 out)
{
.reg .b64 %p;
ld.param.u64 %p, [out];
st.global.u32 [%p], 7;
ret;
}
)";

TEST_F(Modules, a_fat_binary_with_ptx_for_a_newer_architecture_alone_runs) {
  const std::string image = newer_fat_binary(newer_ptx, 120);
  ASSERT_OK(cuModuleLoadFatBinary(&module, image.data()));
  int* const out = device_array<int>(1);
  ASSERT_OK(launch(kernel("seven"), 1, 1, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(7, *out);
  int version = 0;  // by which the host's code finds how the kernel was compiled
  EXPECT_OK(cuFuncGetAttribute(&version, CU_FUNC_ATTRIBUTE_PTX_VERSION, kernel("seven")));
  EXPECT_EQ(120, version);
}

// As `__launch_bounds__` that depends on `__CUDA_ARCH__` makes it, while the host's code asks what the device is.
TEST_F(Modules, limits_on_threads_for_a_newer_architecture_do_not_bind) {
  std::string text = newer_ptx;
  text.insert(text.find("{\n"), ".maxntid 768, 1, 1\n.minnctapersm 2\n");
  const std::string image = newer_fat_binary(text, 120);
  ASSERT_OK(cuModuleLoadFatBinary(&module, image.data()));
  int blocks = 0;
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("seven"), 1024, 0));
  EXPECT_LT(0, blocks);
  int* const out = device_array<int>(1);
  ASSERT_OK(launch(kernel("seven"), 1, 1024, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(7, *out);
}

TEST_F(Modules, a_library_of_a_wrapper_whose_fat_binary_is_for_a_newer_architecture_runs) {
  const std::string image = newer_fat_binary(newer_ptx, 120);
  const struct {
    std::uint32_t magic, version;
    const void* data;
    const void* parts;
  } wrapper = {0x466243b1, 1, image.data(), nullptr};  // what the run-time library hands over
  CUlibrary library = nullptr;
  ASSERT_OK(cuLibraryLoadData(&library, &wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel seven = nullptr;
  ASSERT_OK(cuLibraryGetKernel(&seven, library, "seven"));
  int* const out = device_array<int>(1);
  ASSERT_OK(launch(reinterpret_cast<CUfunction>(seven), 1, 1, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(7, *out);
  EXPECT_OK(cuLibraryUnload(library));
}

TEST_F(Modules, the_parts_of_a_fat_binary_linked_ahead_of_time_may_be_for_a_newer_architecture) {
  const std::string linked = newer_fat_binary("", 0), part = newer_fat_binary(newer_ptx, 120);
  const char* const parts[] = {part.data(), nullptr};
  const struct {
    std::uint32_t magic, version;
    const void* data;
    const void* parts;
  } wrapper = {0x466243b1, 2, linked.data(), parts};
  ASSERT_OK(cuModuleLoadData(&module, &wrapper));
  EXPECT_NE(nullptr, kernel("seven"));
}

TEST_F(Modules, fat_binaries_for_a_newer_architecture_are_linked_and_other_ptx_for_it_is_not) {
  std::string image = newer_fat_binary(newer_ptx, 120), text = newer_ptx;
  CUlinkState link = nullptr;
  ASSERT_OK(cuLinkCreate(0, nullptr, nullptr, &link));
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX,
            cuLinkAddData(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "text", 0, nullptr, nullptr));
  ASSERT_OK(cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, image.data(), image.size(), "seven", 0, nullptr, nullptr));
  void* cubin = nullptr;
  std::size_t size = 0;
  ASSERT_OK(cuLinkComplete(link, &cubin, &size));
  ASSERT_OK(cuModuleLoadData(&module, cubin));
  ASSERT_OK(cuLinkDestroy(link));
  int* const out = device_array<int>(1);
  ASSERT_OK(launch(kernel("seven"), 1, 1, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(7, *out);
}

TEST_F(Modules, a_library_of_machine_code_alone_fails_at_the_first_look_at_a_kernel_and_in_words) {
  const std::string image = newer_fat_binary("", 0);
  CUlibrary library = nullptr;
  ASSERT_OK(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel seven = nullptr;
  EXPECT_EQ(CUDA_ERROR_NO_BINARY_FOR_GPU, cuLibraryGetKernel(&seven, library, "seven"));
  std::string report(cucore_cpu_last_report(nullptr, 0) + 1, '\0');
  cucore_cpu_last_report(report.data(), report.size());
  EXPECT_NE(std::string::npos, report.find("it holds sm_90")) << report;
  EXPECT_OK(cuLibraryUnload(library));
}

}  // namespace
