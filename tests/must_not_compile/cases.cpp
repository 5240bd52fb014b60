// One case per number, chosen with -DCASE=n. "// case n: words" names what the compiler's message must contain; case 0
// is the control and must compile.
#include <string>

#include "cucore/cucore.hpp"

struct Point {
  float x, y;
};

void use(cucore::Stream& stream, cucore::Event& event, cucore::Buffer& buffer, cucore::Context& context,
         cucore::Kernel& kernel) {
#if CASE == 0
  cucore::Stream moved = std::move(stream);
  cucore::Buffer shared = buffer.share();
  cucore::Kernel copy = kernel;
  cucore::launch(moved, {.grid = {1}, .block = {32}}, copy, 1, 2.0f, buffer, Point{1, 2}, nullptr, true);
  shared.fill(1.0f, moved);
#elif CASE == 1   // case 1: deleted|implicitly-deleted
  cucore::Stream copy = stream;
#elif CASE == 2   // case 2: deleted|implicitly-deleted
  cucore::Event copy = event;
#elif CASE == 3   // case 3: deleted|implicitly-deleted
  cucore::Buffer copy = buffer;
#elif CASE == 4   // case 4: deleted|implicitly-deleted
  cucore::Context copy = context;
#elif CASE == 5   // case 5: a kernel argument must be trivially copyable, or a Buffer
  cucore::launch(stream, {}, kernel, std::string("no"));
#elif CASE == 6   // case 6: a kernel argument must be trivially copyable, or a Buffer
  cucore::launch(stream, {}, kernel, stream);
#elif CASE == 7   // case 7: constraint
  buffer.fill(1.0, stream);
#elif CASE == 8   // case 8: constraint
  buffer.fill(&buffer, stream);
#elif CASE == 9   // case 9: abstract
  cucore::MemoryResource resource;
#elif CASE == 10  // case 10: could not convert|cannot convert|no viable conversion|conversion
  cucore::Device device = "0";
#elif CASE == 11  // case 11: explicit|conversion|convert
  int open = stream;
#elif CASE == 12  // case 12: could not convert|cannot convert|no viable|no matching|conversion
  cucore::TypedKernel<float, int*>(kernel).launch(stream, {}, 1.0f, 2.0f);
#elif CASE == 13  // case 13: deleted
  cucore::ArgumentPack pack(cucore::Kernel{});
#elif CASE == 14  // case 14: could not convert|cannot convert|no viable|no matching|conversion
  cucore::TypedKernel<void(float, int*)>(kernel).launch(stream, {}, 1.0f);
#endif
}
