// An ObjectCode inside a frame: serialised by itself, or as part of a cache entry.
#pragma once

#include "cucore/object_code.hpp"
#include "src/formats/frame.hpp"

namespace cucore::detail {

void write_object_code(FrameWriter& writer, const ObjectCode& code);
/// Throws ValueError for bytes that no writer can have written.
ObjectCode read_object_code(FrameReader& reader);

}  // namespace cucore::detail
