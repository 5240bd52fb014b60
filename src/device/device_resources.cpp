// Device resources and the green contexts made of them.
#include "cucore/device_resources.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>

#include "cucore/context.hpp"
#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "src/device/context_state.hpp"
#include "src/driver/table.hpp"
#include "src/handles/context_scope.hpp"

namespace cucore {
namespace detail {

struct SMResourceState {
  driver::CUdevResource resource{};  // exactly as the driver returned it: it refuses a modified one
  driver::CUdevSmResource sm{};      // with what it left out
  int device = 0;
  bool is_dry_run = false;
  mutable std::mutex splitting;  // the driver's split is not said to be thread-safe on one input
};

struct WorkqueueResourceState {
  driver::CUdevResource resource{};
  int device = 0;
};

namespace {

constexpr int structured_split = 13010;  // and work queues

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

[[noreturn]] void refuse_old_driver(const char* call, const char* what, const char* needed) {
  throw UnavailableError({.call = call,
                          .message = std::string(what) + " needs a driver of CUDA " + needed +
                                     " or newer; this one is of " + version_text(driver_info().version),
                          .hint = "update the driver"});
}

// CUDA 12 does not report it; it depends on the architecture alone.
unsigned alignment_before_13(int device) { return Device(device).compute_capability().major >= 9 ? 8 : 2; }

SMResource sm_resource(const driver::CUdevResource& resource, int device, bool is_dry_run,
                       const SMResourceState* parent = nullptr) {
  auto state = std::make_shared<SMResourceState>();
  state->resource = resource;
  state->device = device;
  state->is_dry_run = is_dry_run;
  driver::CUdevSmResource& sm = state->sm;
  sm = resource.sm;
  if (resource.type == driver::CU_DEV_RESOURCE_TYPE_INVALID) sm.smCount = 0;  // nothing is left
  if (driver_info().version < 13000) {
    sm.minSmPartitionSize = sm.smCoscheduledAlignment = alignment_before_13(device);
    sm.flags = 0;
  } else if (parent != nullptr) {
    if (sm.minSmPartitionSize == 0) sm.minSmPartitionSize = parent->sm.minSmPartitionSize;
    if (sm.smCoscheduledAlignment == 0) sm.smCoscheduledAlignment = parent->sm.smCoscheduledAlignment;
  }
  return SMResource(std::move(state));
}

std::string describe_sms(const SMResourceState& state) {
  return std::to_string(state.sm.smCount) + " SMs of " + describe_device(state.device);
}

std::string split_hint(const SMResourceState& state) {
  return "the smallest group has " + std::to_string(state.sm.minSmPartitionSize) + " SMs, and counts go in steps of " +
         std::to_string(state.sm.smCoscheduledAlignment);
}

SMSplit made_of(const SMResourceState& from, const std::vector<driver::CUdevResource>& groups,
                const driver::CUdevResource& remainder, bool dry_run) {
  SMSplit split{{}, sm_resource(remainder, from.device, dry_run, &from)};
  for (const driver::CUdevResource& group : groups) {
    split.groups.push_back(sm_resource(group, from.device, dry_run, &from));
  }
  return split;
}

// CUDA 13.1 and newer; CUDA_ERROR_NOT_SUPPORTED where that is missing.
driver::CUresult split_structured(const SMResourceState& from, std::span<const SMGroup> groups,
                                  std::vector<driver::CUdevResource>& made, driver::CUdevResource& remainder) {
  std::vector<driver::CU_DEV_SM_RESOURCE_GROUP_PARAMS> parameters;
  for (const SMGroup& group : groups) {
    driver::CU_DEV_SM_RESOURCE_GROUP_PARAMS each{};
    each.smCount = group.count;
    each.coscheduledSmCount = group.coscheduled_sm_count.value_or(0);
    each.preferredCoscheduledSmCount = group.preferred_coscheduled_sm_count.value_or(0);
    each.flags = group.backfill ? driver::CU_DEV_SM_RESOURCE_GROUP_BACKFILL : 0;
    parameters.push_back(each);
  }
  made.resize(groups.size());
  return driver::table().cuDevSmResourceSplit(made.data(), static_cast<unsigned>(groups.size()), &from.resource,
                                              &remainder, 0, parameters.data());
}

driver::CUresult split_by_count(const SMResourceState& from, std::span<const SMGroup> groups,
                                std::vector<driver::CUdevResource>& made, driver::CUdevResource& remainder) {
  for (const SMGroup& group : groups) {
    if (group.count != groups[0].count) {
      refuse_old_driver("SMResource::split", "a split into groups of different sizes", "13.1");
    }
    if (group.coscheduled_sm_count.has_value() || group.preferred_coscheduled_sm_count.has_value()) {
      refuse_old_driver("SMResource::split", "asking for co-scheduled SMs", "13.1");
    }
  }
  unsigned count = static_cast<unsigned>(groups.size());
  made.resize(groups.size());
  const driver::CUresult code =
      driver::table().cuDevSmResourceSplitByCount(made.data(), &count, &from.resource, &remainder, 0, groups[0].count);
  made.resize(std::min<std::size_t>(count, made.size()));
  return code;
}

// The descriptor's parts, checked before the driver sees them.
std::vector<driver::CUdevResource> provisioned(int device, const ContextOptions& options) {
  const auto refuse = [](std::string message, std::string hint) {
    throw ValueError({.call = "Device::create_context", .message = std::move(message), .hint = std::move(hint)});
  };
  const auto check_device = [&](int own) {
    if (own != device) {
      refuse("a resource of " + describe_device(own) + " cannot be used in a context of " + describe_device(device),
             "take it from the resources() of the same device");
    }
  };
  if (options.resources.empty()) {
    refuse("a context is made of resources, and there are none", "pass groups of Device::resources().sm().split(...)");
  }
  std::vector<driver::CUdevResource> parts;
  for (const auto& resource : options.resources) {
    if (const auto* const sm = std::get_if<SMResource>(&resource)) {
      check_device(sm->state().device);
      if (sm->is_dry_run()) {
        refuse("a dry-run SMResource cannot make a context", "split again without dry_run");
      }
      parts.push_back(sm->state().resource);
    } else {
      const WorkqueueResourceState& queues = std::get<WorkqueueResource>(resource).state();
      check_device(queues.device);
      parts.push_back(queues.resource);
    }
    parts.back().nextResource = nullptr;
  }
  return parts;
}

}  // namespace
}  // namespace detail

unsigned SMResource::sm_count() const noexcept { return state_->sm.smCount; }
unsigned SMResource::min_partition_size() const noexcept { return state_->sm.minSmPartitionSize; }
unsigned SMResource::coscheduled_alignment() const noexcept { return state_->sm.smCoscheduledAlignment; }
unsigned SMResource::flags() const noexcept { return state_->sm.flags; }
Device SMResource::device() const { return Device(state_->device); }
bool SMResource::is_dry_run() const noexcept { return state_->is_dry_run; }
const void* SMResource::handle() const noexcept { return &state_->resource; }

SMSplit SMResource::split(std::span<const SMGroup> groups, bool dry_run) const {
  if (groups.empty()) {
    throw ValueError({.call = "SMResource::split", .message = "a split needs at least one group"});
  }
  std::vector<driver::CUdevResource> made;
  driver::CUdevResource remainder{};
  const std::scoped_lock lock(state_->splitting);
  const char* call = "cuDevSmResourceSplit";
  driver::CUresult code = detail::split_structured(*state_, groups, made, remainder);
  if (code == driver::CUDA_ERROR_NOT_SUPPORTED) {
    call = "cuDevSmResourceSplitByCount";
    code = detail::split_by_count(*state_, groups, made, remainder);
  }
  if (code == driver::CUDA_ERROR_NOT_SUPPORTED) detail::refuse_old_driver(call, "splitting SMs", "12.4");
  if (code != driver::CUDA_SUCCESS)
    driver::fail(code, call, detail::describe_sms(*state_), detail::split_hint(*state_));
  return detail::made_of(*state_, made, remainder, dry_run);
}

SMSplit SMResource::split(std::initializer_list<SMGroup> groups, bool dry_run) const {
  return split(std::span(groups.begin(), groups.size()), dry_run);
}

std::vector<SMGroup> SMResource::fractions(std::span<const double> parts) const {
  const auto refuse = [](std::string message) {
    throw ValueError({.call = "SMResource::fractions", .message = std::move(message)});
  };
  constexpr double slack = 1e-9;  // ten tenths are 1
  const unsigned step = std::max({coscheduled_alignment(), min_partition_size(), 1u});
  double sum = 0;
  std::vector<SMGroup> groups;
  for (const double part : parts) {
    if (!(part > 0 && part <= 1)) refuse("a fraction must be more than 0 and at most 1, not " + std::to_string(part));
    sum += part;
    const auto count = static_cast<unsigned>(std::floor(part * sm_count() + slack)) / step * step;
    if (count == 0) {
      refuse("the fraction " + std::to_string(part) + " of " + detail::describe_sms(*state_) +
             " is less than a group of " + std::to_string(step));
    }
    groups.push_back({.count = count});
  }
  if (sum > 1 + slack) refuse("the fractions are more than 1 together");
  return groups;
}

std::vector<SMGroup> SMResource::fractions(std::initializer_list<double> parts) const {
  return fractions(std::span(parts.begin(), parts.size()));
}

WorkqueueSharingScope WorkqueueResource::sharing_scope() const noexcept {
  return static_cast<WorkqueueSharingScope>(state_->resource.wqConfig.sharingScope);
}
unsigned WorkqueueResource::concurrency_limit() const noexcept { return state_->resource.wqConfig.wqConcurrencyLimit; }
Device WorkqueueResource::device() const { return Device(state_->device); }
const void* WorkqueueResource::handle() const noexcept { return &state_->resource; }

void WorkqueueResource::configure(const WorkqueueResourceOptions& options) {
  if (options.concurrency_limit == 0u) {
    throw ValueError(
        {.call = "WorkqueueResource::configure", .message = "concurrency_limit must be at least 1, not 0"});
  }
  driver::CUdevWorkqueueConfigResource& queues = state_->resource.wqConfig;
  if (options.sharing_scope.has_value()) queues.sharingScope = static_cast<int>(*options.sharing_scope);
  if (options.concurrency_limit.has_value()) queues.wqConcurrencyLimit = *options.concurrency_limit;
}

namespace {

driver::CUresult query(int device, const detail::ContextState* context, int type, driver::CUdevResource& resource,
                       const char*& call) {
  const driver::Table& table = driver::table();
  if (context == nullptr) {
    call = "cuDeviceGetDevResource";
    return table.cuDeviceGetDevResource(detail::device_handle(device), &resource, type);
  }
  if (context->green != nullptr) {
    call = "cuGreenCtxGetDevResource";
    return table.cuGreenCtxGetDevResource(context->green, &resource, type);
  }
  call = "cuCtxGetDevResource";
  return table.cuCtxGetDevResource(context->handle, &resource, type);
}

}  // namespace

Device DeviceResources::device() const { return Device(device_); }

SMResource DeviceResources::sm() const {
  driver::CUdevResource resource{};
  const char* call = nullptr;
  const driver::CUresult code = query(device_, context_.get(), driver::CU_DEV_RESOURCE_TYPE_SM, resource, call);
  if (code == driver::CUDA_ERROR_NOT_SUPPORTED) detail::refuse_old_driver(call, "asking for SM resources", "12.4");
  driver::check(code, call, [&] { return detail::describe_device(device_); });
  return detail::sm_resource(resource, device_, false);
}

WorkqueueResource DeviceResources::workqueue() const {
  auto state = std::make_shared<detail::WorkqueueResourceState>();
  state->device = device_;
  const char* call = nullptr;
  const driver::CUresult code =
      query(device_, context_.get(), driver::CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG, state->resource, call);
  // Drivers that do not know the kind of resource say so in one of these ways.
  const bool is_unknown = code == driver::CUDA_ERROR_NOT_SUPPORTED || code == driver::CUDA_ERROR_INVALID_VALUE ||
                          code == driver::CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (is_unknown && (driver::is_gpu() ? driver_info().version < detail::structured_split : true)) {
    detail::refuse_old_driver(call, "asking for work queues", "13.1");
  }
  driver::check(code, call, [&] { return detail::describe_device(device_); });
  return WorkqueueResource(std::move(state));
}

Context Device::create_context(const ContextOptions& options) const {
  std::vector<driver::CUdevResource> parts = detail::provisioned(ordinal_, options);
  const driver::Table& table = driver::table();
  const detail::RelaxedCaptureScope relaxed;
  const auto on = [&] { return detail::describe_device(ordinal_); };
  // Retains the primary context, as every other use of the device does: green contexts alone would set the device up
  // and tear it down each time.
  detail::primary_context(ordinal_);
  driver::CUdevResourceDesc description = nullptr;
  driver::CUresult code =
      table.cuDevResourceGenerateDesc(&description, parts.data(), static_cast<unsigned>(parts.size()));
  if (code == driver::CUDA_ERROR_NOT_SUPPORTED) {
    detail::refuse_old_driver("cuDevResourceGenerateDesc", "a green context", "12.4");
  }
  driver::check(code, "cuDevResourceGenerateDesc", on,
                "resources of one kind must be groups of one split of one device");
  auto state = std::make_shared<detail::ContextState>();
  state->device = ordinal_;
  driver::check(table.cuGreenCtxCreate(&state->green, description, handle(), driver::CU_GREEN_CTX_DEFAULT_STREAM),
                "cuGreenCtxCreate", on);
  state->owned = detail::OwningHandle<detail::GreenContextTraits>(state->green);
  driver::check(table.cuCtxFromGreenCtx(&state->handle, state->green), "cuCtxFromGreenCtx", on);
  detail::HandleRegistry<detail::ContextState>::instance().add(state);
  return Context(std::move(state));
}

std::vector<Context> Device::partition(const std::vector<SMGroup>& groups) const {
  const SMSplit split = resources().sm().split(groups);
  if (split.groups.size() < groups.size()) {
    throw ValueError({.call = "Device::partition",
                      .message = "the driver made " + std::to_string(split.groups.size()) + " of the " +
                                 std::to_string(groups.size()) + " groups asked for",
                      .hint = "ask for fewer or smaller groups"});
  }
  std::vector<Context> contexts;
  for (const SMResource& group : split.groups) contexts.push_back(create_context({.resources = {group}}));
  return contexts;
}

}  // namespace cucore
