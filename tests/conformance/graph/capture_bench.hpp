// What the tests of captures share: a stream, and memory that captured work fills.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "cucore/graph_builder.hpp"
#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {

// Eight bytes that captured work fills and adds to.
struct Bench {
  Stream stream = device().create_stream();
  Buffer buffer = device().allocate(8, stream);

  Bench() { put(0); }
  void put(std::uint8_t value) const {
    buffer.fill(value, stream);
    stream.sync();
  }
  unsigned first() const { return read<std::uint8_t>(buffer, stream)[0]; }
  unsigned after(const Graph& graph) const {
    graph.launch(stream);
    return first();
  }
};

// Invalidates the capture in the stream: a stream that captures cannot be waited for.
inline void invalidate(const Stream& stream) { EXPECT_THROW(stream.sync(), DriverError); }

}  // namespace cucore::test
