// Ends the process while threads compile, link and load, which needs NVRTC, nvJitLink and the driver's own compiler:
// the destructors of these libraries free what a compile uses.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "cucore/cucore.hpp"
#include "tests/exit/exit_program.hpp"

namespace {

using namespace cucore;

// Long enough to be under way when the process ends.
const std::string& slow_source() {
  static const std::string& source = *new std::string([] {
    std::string text;
    for (int i = 0; i < 200; ++i) {
      const std::string number = std::to_string(i);
      text += "extern \"C\" __global__ void k" + number +
              "(float* p) { for (int j = 0; j < 64; ++j) p[j] = sinf(p[j] * " + number + ") / p[0]; }\n";
    }
    return text;
  }());
  return source;
}

template <class Work>
void repeat_in_thread(const Work& work) {
  std::thread([work] {
    try {
      for (unsigned i = 0;; ++i) work(i);
    } catch (const StateError&) {  // the process is exiting
      for (;;) pause();
    } catch (const DriverError&) {  // the same, said by the driver
      for (;;) pause();
    }
  }).detach();
}

void compile_in_thread(const char* target) {
  repeat_in_thread([target](unsigned) {
    const bool lto = std::string_view(target) == "ltoir";
    Program(slow_source(), "c++", {.arch = "sm_80", .link_time_optimization = lto}).compile(target);
  });
}

void link_in_thread(const char* target) {
  ProgramOptions options{.arch = "sm_80"};
  options.relocatable_device_code = true;
  options.link_time_optimization = std::string_view(target) == "ltoir";
  const ObjectCode code = Program("extern \"C\" __global__ void k() {}", "c++", options).compile(target);
  repeat_in_thread([code, lto = options.link_time_optimization == true](unsigned) {
    Linker({code}, {.arch = "sm_80", .link_time_optimization = lto}).link("cubin");
  });
}

void let_them_work(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// Registered before NVRTC is opened, this runs after its destructors: a compile is refused there.
void compile_too_late() {
  try {
    Program("", "c++", {.arch = "sm_80"}).compile("ptx");
    _exit(14);
  } catch (const StateError& error) {
    if (std::string(error.what()).find("exiting") == std::string::npos) _exit(15);
  }
}

}  // namespace

int run_compiling(const std::string& which) {
  if (which == "thread_still_compiles") {
    compile_in_thread("ptx");
    let_them_work(200);
    return 0;
  }
  if (which == "thread_opens_the_compiler") {
    compile_in_thread("ptx");
    let_them_work(8);
    return 0;
  }
  if (which == "threads_compile_and_link") {
    link_in_thread("ptx");
    link_in_thread("ltoir");
    for (const char* const target : {"ptx", "cubin", "ltoir"}) compile_in_thread(target);
    let_them_work(150);
    return 0;
  }
  if (which == "exit_while_threads_compile") {
    for (const char* const target : {"ptx", "cubin"}) compile_in_thread(target);
    let_them_work(150);
    std::thread([] { std::exit(0); }).join();
    return 8;
  }
  if (which == "fork_while_compiling") {
    compile_in_thread("ptx");
    let_them_work(200);
    const pid_t child = fork();
    if (child != 0) return wait_for(child);
    // No lock of the compiler is held by a thread that the child does not have.
    Program("extern \"C\" __global__ void k() {}", "c++", {.arch = "sm_80"}).compile("ptx");
    std::exit(0);
  }
  if (which == "compiles_at_exit") {
    std::atexit(&compile_too_late);
    static Program program("extern \"C\" __global__ void k() {}", "c++", {.arch = "sm_80"});
    program.compile("ptx");
    std::atexit([] { program.compile("cubin"); });
    return 0;
  }
  if (which == "plugin_compiles_and_is_closed") {
    if (const int failed = use_plugin("plugin_compile", true); failed != 0) return failed;
    Program("", "c++", {.arch = "sm_80"}).compile("ltoir");
    compile_in_thread("ptx");
    let_them_work(50);
    return 0;
  }
  if (which == "thread_still_loads") {
    repeat_in_thread([](unsigned i) {
      std::string ptx =
          ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
          "  .reg .u64 %a; .reg .f32 %f;\n  ld.param.u64 %a, [p];\n";
      for (unsigned j = 0; j < 100; ++j) {
        ptx += "  ld.global.f32 %f, [%a + " + std::to_string(4 * (i + j)) + "];\n  st.global.f32 [%a], %f;\n";
      }
      const ObjectCode code = ObjectCode::from_ptx(ptx + "  ret;\n}\n");
      Device(0).set_current();
      const Kernel kernel = code.get_kernel("k");
      const Stream stream = Device(0).create_stream();
      const Buffer buffer = Device(0).allocate(1 << 24, stream);
      launch(stream, {.grid = {1}, .block = {1}}, kernel, buffer);
      stream.sync();
    });
    let_them_work(200);
    return 0;
  }
  return 9;
}
