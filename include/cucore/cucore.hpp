// All of cucore's public headers, in the order data flows through them: source text and options become code, code
// becomes kernels, kernels are launched on streams with buffers.
#pragma once

// What everything uses
#include "cucore/driver.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/error.hpp"
#include "cucore/export.hpp"
#include "cucore/process.hpp"
#include "cucore/result.hpp"
#include "cucore/version.hpp"

// Compiling: works without a driver
#include "cucore/code_type.hpp"
#include "cucore/diagnostic.hpp"
#include "cucore/kernel_statistics.hpp"
#include "cucore/object_code.hpp"
#include "cucore/program.hpp"
#include "cucore/program_cache.hpp"
#include "cucore/program_options.hpp"
#include "cucore/toolkit.hpp"

// Running
#include "cucore/batch.hpp"
#include "cucore/buffer.hpp"
#include "cucore/checkpoint.hpp"
#include "cucore/context.hpp"
#include "cucore/deferred_release.hpp"
#include "cucore/device.hpp"
#include "cucore/device_resources.hpp"
#include "cucore/event.hpp"
#include "cucore/event_pool.hpp"
#include "cucore/graph.hpp"
#include "cucore/graph_builder.hpp"
#include "cucore/graph_definition.hpp"
#include "cucore/graph_memory.hpp"
#include "cucore/graph_node.hpp"
#include "cucore/graphics_resource.hpp"
#include "cucore/kernel.hpp"
#include "cucore/launch.hpp"
#include "cucore/linker.hpp"
#include "cucore/managed_memory.hpp"
#include "cucore/memory.hpp"
#include "cucore/opaque_array.hpp"
#include "cucore/stream.hpp"
#include "cucore/texture.hpp"
#include "cucore/timer.hpp"
#include "cucore/virtual_memory.hpp"
