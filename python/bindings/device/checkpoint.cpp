// Checkpoints of processes: what cucore.checkpoint.Process calls when it has checked its arguments.
#include "cucore/checkpoint.hpp"

#include <algorithm>
#include <chrono>

#include "python/bindings/python.hpp"
#include "python/bindings/unsigned.hpp"

namespace cucore::python {
namespace {

using checkpoint::GpuPair;
using checkpoint::Process;

checkpoint::Uuid uuid_of(const nb::bytes& bytes) {
  checkpoint::Uuid uuid{};
  if (bytes.size() != uuid.size()) throw nb::value_error("a UUID has 16 bytes");
  std::copy_n(static_cast<const unsigned char*>(bytes.data()), uuid.size(), uuid.begin());
  return uuid;
}

}  // namespace

void bind_checkpoint(nb::module_& module) {
  module.def("_checkpoint_state", [](Int pid) {
    static constexpr const char* names[] = {"running", "locked", "checkpointed", "failed"};
    return names[static_cast<int>(without_gil([&] { return Process(pid).state(); }))];
  });
  module.def("_checkpoint_restore_thread_id",
             [](Int pid) { return without_gil([&] { return Process(pid).restore_thread_id(); }); });
  module.def("_checkpoint_lock", [](Int pid, std::int64_t milliseconds) {
    without_gil([&] { Process(pid).lock(std::chrono::milliseconds(milliseconds)); });
  });
  module.def("_checkpoint_checkpoint", [](Int pid) { without_gil([&] { Process(pid).checkpoint(); }); });
  module.def("_checkpoint_restore", [](Int pid, const std::vector<std::tuple<nb::bytes, nb::bytes>>& uuids) {
    std::vector<GpuPair> pairs;
    for (const auto& [before, after] : uuids) pairs.push_back({uuid_of(before), uuid_of(after)});
    without_gil([&] { Process(pid).restore(pairs); });
  });
  module.def("_checkpoint_unlock", [](Int pid) { without_gil([&] { Process(pid).unlock(); }); });
}

}  // namespace cucore::python
