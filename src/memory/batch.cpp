// Batches of copies, prefetches and discards.
#include "cucore/batch.hpp"

#include <string>
#include <vector>

#include "cucore/driver.hpp"
#include "cucore/error.hpp"
#include "cucore/stream.hpp"
#include "src/error/closed.hpp"
#include "src/memory/buffer_state.hpp"
#include "src/memory/memory_location.hpp"

namespace cucore {
namespace {

using detail::BufferState;

constexpr int first_driver_with_batches = 13000;

bool is_legacy(const detail::StreamState& stream) {
  return stream.handle == nullptr || stream.handle == driver::CU_STREAM_LEGACY;
}

void refuse_legacy_stream(const Stream& stream, const char* call) {
  if (!is_legacy(detail::open_stream(stream.state(), call))) return;
  throw TypeError({.call = call,
                   .message = "the driver does not support this on the legacy default stream",
                   .hint = "pass a stream made by create_stream(), or the per-thread default stream"});
}

// The driver refuses it too: what of it is an error of the arguments' type is copy_batch's alone.
void refuse_value_of_legacy_stream(const Stream& stream, const char* call) {
  if (!is_legacy(detail::open_stream(stream.state(), call))) return;
  throw InvalidValueError({.call = call,
                           .code = 1,
                           .code_name = "CUDA_ERROR_INVALID_VALUE",
                           .message = "the driver does not support this on the legacy default stream",
                           .hint = "pass a stream made by create_stream(), or the per-thread default stream"});
}

void require_batches(const char* call) {
  if (driver_info().version >= first_driver_with_batches) return;
  throw UnavailableError({.call = call,
                          .message = std::string(call) + " needs a driver of CUDA 13.0; this one implements " +
                                     std::to_string(driver_info().version / 1000) + "." +
                                     std::to_string(driver_info().version % 1000 / 10)});
}

std::string item(std::size_t index) { return "item " + std::to_string(index); }

const BufferState& open_item(std::span<const Buffer* const> buffers, std::size_t index, const char* call) {
  if (buffers[index] == nullptr) throw ValueError({.call = call, .message = item(index) + " is null"});
  if (buffers[index]->state() == nullptr) detail::refuse_closed("Buffer", call);
  return *buffers[index]->state();
}

void refuse_empty(std::span<const Buffer* const> buffers, const char* call) {
  if (buffers.empty()) throw ValueError({.call = call, .message = "there are no buffers: a batch needs at least one"});
}

void check_managed(std::span<const Buffer* const> buffers, const char* call) {
  refuse_empty(buffers, call);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    open_item(buffers, i, call);
    detail::require_managed(*buffers[i], call);
  }
}

template <class T>
void check_number(std::span<const T> values, std::size_t buffers, const char* what, const char* call) {
  if (values.size() == 1 || values.size() == buffers) return;
  throw ValueError({.call = call,
                    .message = std::to_string(values.size()) + " " + what + " for " + std::to_string(buffers) +
                               " buffers: there must be one for all or one for each"});
}

/// The arguments of a batch call: the ranges that are not empty, and the values that consecutive ones share.
struct Ranges {
  std::vector<DevicePointer> addresses;
  std::vector<std::size_t> sizes;
  std::vector<driver::CUmemLocation> locations;
  std::vector<std::size_t> first_at;  ///< the first range of each location

  Ranges(std::span<const Buffer* const> buffers, std::span<const MemoryLocation> places) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i]->size() == 0) continue;
      if (!places.empty()) add(detail::location_of(places[places.size() == 1 ? 0 : i]));
      addresses.push_back(buffers[i]->handle());
      sizes.push_back(buffers[i]->size());
    }
  }

 private:
  void add(const driver::CUmemLocation& location) {
    if (!locations.empty() && locations.back().type == location.type && locations.back().id == location.id) return;
    locations.push_back(location);
    first_at.push_back(addresses.size());
  }
};

std::string ranges_in(std::size_t count, const detail::StreamState& stream) {
  return std::to_string(count) + " buffers in " + describe(stream);
}

driver::CUmemcpyAttributes attributes_of(const CopyOptions& options) {
  driver::CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder =
      options.src_access_order == CopySourceOrder::stream ? driver::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
      : options.src_access_order == CopySourceOrder::any  ? driver::CU_MEMCPY_SRC_ACCESS_ORDER_ANY
                                                          : driver::CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  if (options.src_location_hint) attributes.srcLocHint = detail::location_of(*options.src_location_hint);
  if (options.dst_location_hint) attributes.dstLocHint = detail::location_of(*options.dst_location_hint);
  if (options.prefer_overlap_with_compute) attributes.flags = driver::CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
  return attributes;
}

void check_copies(std::span<const Buffer* const> sources, std::span<const Buffer* const> destinations,
                  std::span<const CopyOptions> options) {
  constexpr const char* call = "copy_batch";
  refuse_empty(sources, call);
  if (destinations.size() != sources.size()) {
    throw ValueError({.call = call,
                      .message = std::to_string(sources.size()) + " sources cannot be copied to " +
                                 std::to_string(destinations.size()) + " destinations"});
  }
  if (!options.empty()) check_number(options, sources.size(), "options", call);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const BufferState& source = open_item(sources, i, call);
    const BufferState& destination = open_item(destinations, i, call);
    if (source.size == destination.size) continue;
    throw ValueError({.call = call,
                      .message = "the sizes of " + item(i) + " differ: " + describe(source) + " cannot be copied to " +
                                 describe(destination)});
  }
}

void copy_each(const Stream& stream, std::span<const Buffer* const> sources,
               std::span<const Buffer* const> destinations, std::span<const CopyOptions> options) {
  for (const CopyOptions& one : options) {
    if (one.src_access_order == CopySourceOrder::during_api_call) require_batches("copy_batch");
  }
  for (std::size_t i = 0; i < sources.size(); ++i) sources[i]->copy_to(*destinations[i], stream);
}

}  // namespace

void copy_batch(const Stream& stream, std::span<const Buffer* const> sources,
                std::span<const Buffer* const> destinations, std::span<const CopyOptions> options) {
  check_copies(sources, destinations, options);
  refuse_legacy_stream(stream, "copy_batch");
  if (stream.capture_status() != CaptureStatus::none) {
    throw TypeError({.call = "copy_batch",
                     .message = describe(*stream.state()) + " is being captured, which a batch of copies cannot be",
                     .hint = "copy the buffers one by one"});
  }
  if (driver_info().version < first_driver_with_batches) return copy_each(stream, sources, destinations, options);
  std::vector<DevicePointer> from;
  std::vector<DevicePointer> to;
  std::vector<std::size_t> sizes;
  std::vector<driver::CUmemcpyAttributes> attributes;
  std::vector<std::size_t> first_at;
  const CopyOptions plain;
  const CopyOptions* last = nullptr;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i]->size() == 0) continue;
    const CopyOptions& wanted = options.empty() ? plain : options[options.size() == 1 ? 0 : i];
    if (last == nullptr || *last != wanted) {
      attributes.push_back(attributes_of(wanted));
      first_at.push_back(sizes.size());
    }
    last = &wanted;
    from.push_back(sources[i]->handle());
    to.push_back(destinations[i]->handle());
    sizes.push_back(sources[i]->size());
  }
  if (sizes.empty()) return;
  const detail::StreamState& stream_state = *stream.state();
  detail::ContextScope scope(context_handle(stream_state));
  driver::check(
      driver::table().cuMemcpyBatchAsync(to.data(), from.data(), sizes.data(), sizes.size(), attributes.data(),
                                         first_at.data(), attributes.size(), stream_state.handle),
      "cuMemcpyBatchAsync", [&] { return ranges_in(sizes.size(), stream_state); });
  scope.restore();
}

void prefetch_batch(const Stream& stream, std::span<const Buffer* const> buffers,
                    std::span<const MemoryLocation> locations) {
  constexpr const char* call = "prefetch_batch";
  check_managed(buffers, call);
  check_number(locations, buffers.size(), "locations", call);
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), call);
  if (is_legacy(stream_state) || driver_info().version < first_driver_with_batches) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      ManagedBuffer(buffers[i]->share()).prefetch(locations[locations.size() == 1 ? 0 : i], stream);
    }
    return;
  }
  Ranges all(buffers, locations);
  if (all.sizes.empty()) return;
  detail::ContextScope scope(context_handle(stream_state));
  driver::check(driver::table().cuMemPrefetchBatchAsync(all.addresses.data(), all.sizes.data(), all.sizes.size(),
                                                        all.locations.data(), all.first_at.data(), all.locations.size(),
                                                        0, stream_state.handle),
                "cuMemPrefetchBatchAsync", [&] { return ranges_in(all.sizes.size(), stream_state); });
  scope.restore();
}

void discard_batch(const Stream& stream, std::span<const Buffer* const> buffers) {
  constexpr const char* call = "discard_batch";
  check_managed(buffers, call);
  refuse_value_of_legacy_stream(stream, call);
  require_batches(call);
  Ranges all(buffers, {});
  if (all.sizes.empty()) return;
  const detail::StreamState& stream_state = *stream.state();
  detail::ContextScope scope(context_handle(stream_state));
  driver::check(driver::table().cuMemDiscardBatchAsync(all.addresses.data(), all.sizes.data(), all.sizes.size(), 0,
                                                       stream_state.handle),
                "cuMemDiscardBatchAsync", [&] { return ranges_in(all.sizes.size(), stream_state); });
  scope.restore();
}

void discard_prefetch_batch(const Stream& stream, std::span<const Buffer* const> buffers,
                            std::span<const MemoryLocation> locations) {
  constexpr const char* call = "discard_prefetch_batch";
  check_managed(buffers, call);
  check_number(locations, buffers.size(), "locations", call);
  refuse_value_of_legacy_stream(stream, call);
  require_batches(call);
  Ranges all(buffers, locations);
  if (all.sizes.empty()) return;
  const detail::StreamState& stream_state = *stream.state();
  detail::ContextScope scope(context_handle(stream_state));
  driver::check(driver::table().cuMemDiscardAndPrefetchBatchAsync(
                    all.addresses.data(), all.sizes.data(), all.sizes.size(), all.locations.data(), all.first_at.data(),
                    all.locations.size(), 0, stream_state.handle),
                "cuMemDiscardAndPrefetchBatchAsync", [&] { return ranges_in(all.sizes.size(), stream_state); });
  scope.restore();
}

}  // namespace cucore
