// All of cucore's public headers, in the order data flows through them.
#pragma once

#include "cucore/buffer.hpp"
#include "cucore/context.hpp"
#include "cucore/device.hpp"
#include "cucore/driver.hpp"
#include "cucore/error.hpp"
#include "cucore/event.hpp"
#include "cucore/kernel.hpp"
#include "cucore/launch.hpp"
#include "cucore/memory.hpp"
#include "cucore/stream.hpp"
