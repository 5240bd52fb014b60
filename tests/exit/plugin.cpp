// A shared library with a cucore of its own and static objects, to be closed before the process ends, or not.
#include <optional>

#include "cucore/cucore.hpp"

namespace {

struct Held {
  cucore::Stream stream = cucore::Device(0).create_stream();
  cucore::Event event = stream.record();
  cucore::Buffer buffer = cucore::Device(0).allocate(4096, stream);
};

}  // namespace

extern "C" __attribute__((visibility("default"))) int plugin_use() {
  try {
    static const Held held;
    held.stream.sync();
    return 0;
  } catch (const cucore::Error&) {
    return 1;
  }
}

extern "C" __attribute__((visibility("default"))) int plugin_compile() {
  try {
    static const cucore::Program program("extern \"C\" __global__ void k() {}", "c++", {.arch = "sm_80"});
    program.compile("cubin");
    return 0;
  } catch (const cucore::Error&) {
    return 1;
  }
}
