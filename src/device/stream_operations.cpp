// Stream: host functions, waiting for and writing values in memory, and attributes.
#include <memory>
#include <utility>

#include "cucore/error.hpp"
#include "cucore/stream.hpp"
#include "src/device/stream_state.hpp"
#include "src/driver/table.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/release_report.hpp"

namespace cucore {
namespace {

using detail::ContextScope;
using detail::describe;
using detail::open_stream;
using detail::StreamState;
using Callable = std::function<void()>;

// Runs on one of the driver's threads, where no caller would catch an exception.
void run_host_function(driver::CUstream, driver::CUresult status, void* user_data) {
  const std::unique_ptr<Callable> function(static_cast<Callable*>(user_data));
  if (status != driver::CUDA_SUCCESS) return;  // the work before it failed: a wait for that reports it
  try {
    (*function)();
  } catch (const std::exception& error) {
    detail::report_release_failure(StateError(
        {.call = "Stream::callback", .message = std::string("a callback of a stream threw: ") + error.what()}));
  } catch (...) {
    detail::report_release_failure(
        StateError({.call = "Stream::callback",
                    .message = "a callback of a stream threw something that is not a std::exception"}));
  }
}

// The driver's error for memory that it does not take names no address.
template <class Call>
void on_memory(const StreamState& stream, const char* call, DevicePointer address, Call&& operation) {
  ContextScope scope(detail::context_handle(stream));
  driver::check(
      operation(driver::table()), call, [&] { return "address " + hexadecimal(address) + " in " + describe(stream); },
      "give an address aligned to the value's size, in memory that is not of a pool: LegacyPinnedMemoryResource's");
  scope.restore();
}

driver::CUlaunchAttributeValue attribute(const StreamState& stream, int id) {
  driver::CUlaunchAttributeValue value{};
  ContextScope scope(detail::context_handle(stream));
  driver::check(driver::table().cuStreamGetAttribute(stream.handle, id, &value), "cuStreamGetAttribute",
                [&] { return describe(stream); });
  scope.restore();
  return value;
}

void set_attribute(const StreamState& stream, int id, const driver::CUlaunchAttributeValue& value) {
  ContextScope scope(detail::context_handle(stream));
  driver::check(driver::table().cuStreamSetAttribute(stream.handle, id, &value), "cuStreamSetAttribute",
                [&] { return describe(stream); });
  scope.restore();
}

}  // namespace

void Stream::callback(std::function<void()> function) const {
  const StreamState& state = open_stream(state_, "callback");
  if (function == nullptr) throw ValueError({.call = "Stream::callback", .message = "the callback is empty"});
  auto kept = std::make_unique<Callable>(std::move(function));
  ContextScope scope(detail::context_handle(state));
  Callable* const handed_over = kept.release();  // its own when it runs
  const driver::CUresult code = driver::table().cuStreamAddCallback(state.handle, run_host_function, handed_over, 0);
  if (code != driver::CUDA_SUCCESS) kept.reset(handed_over);
  driver::check(code, "cuStreamAddCallback", [&] { return describe(state); });
  scope.restore();
}

void Stream::wait_value(DevicePointer address, std::uint32_t value, WaitCondition condition) const {
  const StreamState& state = open_stream(state_, "wait_value");
  on_memory(state, "cuStreamWaitValue32", address, [&](const driver::Table& table) {
    return table.cuStreamWaitValue32(state.handle, address, value, static_cast<unsigned>(condition));
  });
}

void Stream::wait_value(DevicePointer address, std::uint64_t value, WaitCondition condition) const {
  const StreamState& state = open_stream(state_, "wait_value");
  on_memory(state, "cuStreamWaitValue64", address, [&](const driver::Table& table) {
    return table.cuStreamWaitValue64(state.handle, address, value, static_cast<unsigned>(condition));
  });
}

void Stream::write_value(DevicePointer address, std::uint32_t value) const {
  const StreamState& state = open_stream(state_, "write_value");
  on_memory(state, "cuStreamWriteValue32", address,
            [&](const driver::Table& table) { return table.cuStreamWriteValue32(state.handle, address, value, 0); });
}

void Stream::write_value(DevicePointer address, std::uint64_t value) const {
  const StreamState& state = open_stream(state_, "write_value");
  on_memory(state, "cuStreamWriteValue64", address,
            [&](const driver::Table& table) { return table.cuStreamWriteValue64(state.handle, address, value, 0); });
}

SyncPolicy Stream::sync_policy() const {
  const int policy =
      attribute(open_stream(state_, "sync_policy"), driver::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY).syncPolicy;
  return policy < 0 ? SyncPolicy::automatic : static_cast<SyncPolicy>(policy);  // negative: never set
}

void Stream::set_sync_policy(SyncPolicy policy) const {
  driver::CUlaunchAttributeValue value{};
  value.syncPolicy = static_cast<int>(policy);
  set_attribute(open_stream(state_, "set_sync_policy"), driver::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, value);
}

MemSyncDomain Stream::mem_sync_domain() const {
  return static_cast<MemSyncDomain>(
      attribute(open_stream(state_, "mem_sync_domain"), driver::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain);
}

void Stream::set_mem_sync_domain(MemSyncDomain domain) const {
  driver::CUlaunchAttributeValue value{};
  value.memSyncDomain = static_cast<int>(domain);
  set_attribute(open_stream(state_, "set_mem_sync_domain"), driver::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, value);
}

}  // namespace cucore
