// Device resources: the part of a device that a context may use. Multiprocessors are counted and divided, but every
// context runs on all cores; of work queues only the number is kept.
#pragma once

#include <optional>

#include "cpu/api/cuda_13_5.hpp"

namespace cucore::cpu::api {

/// What a green context was provisioned with.
struct Provision {
  CUdevResource multiprocessors{};
  CUdevResource workqueues{};
};

/// All of a device.
Provision whole_device(CUdevice device);

/// The part of `provision` that a query asks for.
CUresult answer_query(const Provision& provision, CUdevResourceType type, CUdevResource* out);

/// What a descriptor stands for; nothing if it is of another device.
std::optional<Provision> provision_of(CUdevResourceDesc descriptor, CUdevice device);

}  // namespace cucore::cpu::api
