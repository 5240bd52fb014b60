// Streams that were created, by their handles alone: they bring their context along.
#pragma once

#include <cuda.h>

#include <memory>

namespace cucore::cpu::runtime {

class Stream;

/// Of whatever context; null pointer for any other handle, those of default streams included.
std::shared_ptr<Stream> find_created_stream(CUstream handle);

}  // namespace cucore::cpu::runtime
