// PoolState: creating, configuring and destroying pools.
#include "src/memory/pool_state.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/error/hexadecimal.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/release_report.hpp"

namespace cucore::detail {
namespace {

// NVIDIA's driver answers a second import of a pool with the handle of the first, and an import of memory that is
// mapped already with its address, which it unmaps at the first free; it refuses to destroy the pool (INVALID_VALUE)
// while any memory is mapped. So there is one PoolState for all imports of a pool, which all end with it.
struct ImportedPools {
  std::mutex mutex;  // held while the driver imports, and guards what was imported again
  std::unordered_map<driver::CUmemoryPool, std::weak_ptr<PoolState>> all;
};

// Never destroyed: static objects may drop pools at the end of the process.
ImportedPools& imported_pools() {
  static auto* const pools = new ImportedPools;
  return *pools;
}

}  // namespace

PoolState::~PoolState() {
  if (!is_owned()) return;
  if (is_mapped()) {
    end_import();
  } else {
    give_up();
  }
}

void PoolState::give_up() noexcept {
  if (peers_granted) revoke_peers();
  set_aside(std::move(owned));
}

// Under the mutex of imported_pools().
void PoolState::add(OwnedPool imports) {
  owned.imported_again.reserve(owned.imported_again.size() + imports.imported_again.size() + 1);
  for (const ContextHandle context : imports.freed_in) used_in(context);
  if (is_owned()) {
    owned.imported_again.push_back(std::move(imports.handle));
  } else {
    owned.handle = std::move(imports.handle);
    owned.properties = imports.properties;
  }
  std::move(imports.imported_again.begin(), imports.imported_again.end(), std::back_inserter(owned.imported_again));
}

// A new import may have found the handle while this was on its way.
void PoolState::end_import() noexcept {
  ImportedPools& imported = imported_pools();
  std::shared_ptr<PoolState> successor;
  const std::lock_guard lock(imported.mutex);
  if (const auto found = imported.all.find(handle); found != imported.all.end()) {
    successor = found->second.lock();
    if (successor == nullptr) imported.all.erase(found);
  }
  if (successor == nullptr) return give_up();
  try {
    successor->add(std::move(owned));
  } catch (const std::bad_alloc&) {
    report_release_failure(driver::CUDA_ERROR_OUT_OF_MEMORY, "cuMemPoolDestroy", handle);
  }
}

void PoolState::used_in(ContextHandle context) const {
  if (last_context_.load(std::memory_order_acquire) == context) return;
  const std::lock_guard lock(mutex_);
  std::vector<ContextHandle>& all = owned.freed_in;
  if (std::find(all.begin(), all.end(), context) == all.end()) all.push_back(context);
  last_context_.store(context, std::memory_order_release);
}

// The driver reuses a destroyed pool's handle, and with it the access granted, for a pool made later.
void PoolState::revoke_peers() const noexcept {
  const driver::Table* table = driver::table_for_release();
  int devices = 0;
  if (table == nullptr || table->cuDeviceGetCount(&devices) != driver::CUDA_SUCCESS) return;
  // One call, since every one of them may take long.
  try {
    std::vector<driver::CUmemAccessDesc> none;
    for (int peer = 0; peer < devices; ++peer) {
      if (peer == device()) continue;
      none.push_back({{driver::CU_MEM_LOCATION_TYPE_DEVICE, peer}, driver::CU_MEM_ACCESS_FLAGS_PROT_NONE});
    }
    const driver::CUresult code = table->cuMemPoolSetAccess(handle, none.data(), none.size());
    if (code != driver::CUDA_SUCCESS) report_release_failure(code, "cuMemPoolSetAccess", handle);
  } catch (const std::bad_alloc&) {
    report_release_failure(driver::CUDA_ERROR_OUT_OF_MEMORY, "cuMemPoolSetAccess", handle);
  }
}

std::string describe(const PoolState& pool) {
  std::string text = "memory pool " + hexadecimal(pool.handle);
  if (pool.device() >= 0) return text + " of " + describe_device(pool.device());
  return pool.location.type == driver::CU_MEM_LOCATION_TYPE_NONE ? text : text + " of the host";
}

void set_release_threshold(const PoolState& pool, std::uint64_t bytes) {
  driver::check(driver::table().cuMemPoolSetAttribute(pool.handle, driver::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes),
                "cuMemPoolSetAttribute", [&] { return "the release threshold of " + describe(pool); });
}

// The driver's own pools give idle memory back at every synchronisation unless another threshold has been set.
void keep_idle_memory(const PoolState& pool) {
  if (get_attribute<std::uint64_t>(pool, driver::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) == 0) {
    set_release_threshold(pool, UINT64_MAX);
  }
}

static void reset_high_marks(const PoolState& pool) {
  for (const int mark : {driver::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, driver::CU_MEMPOOL_ATTR_USED_MEM_HIGH}) {
    std::uint64_t zero = 0;
    driver::check(driver::table().cuMemPoolSetAttribute(pool.handle, mark, &zero), "cuMemPoolSetAttribute",
                  [&] { return "a high mark of " + describe(pool); });
  }
}

static constexpr std::string_view no_sharing_hint =
    "properties of the device say whether it can share pools: mempool_supported_handle_types, and for host memory "
    "host_numa_memory_pools_supported; leave out ipc_enabled for a pool of this process alone";

std::shared_ptr<const PoolState> create_pool(const driver::CUmemPoolProps& properties,
                                             std::uint64_t release_threshold) {
  auto pool = std::make_shared<PoolState>();
  pool->location = properties.location;
  pool->owned = take_set_aside(properties);
  const RelaxedCaptureScope relaxed;
  if (pool->is_owned()) {
    pool->handle = pool->owned.handle.get();
    reset_high_marks(*pool);
  } else {
    driver::check(
        driver::table().cuMemPoolCreate(&pool->handle, &properties), "cuMemPoolCreate",
        [&] {
          const bool managed = properties.allocType == driver::CU_MEM_ALLOCATION_TYPE_MANAGED;
          return managed              ? std::string("a pool of managed memory")
                 : pool->device() < 0 ? std::string("a pool of host memory")
                                      : "a pool of " + describe_device(pool->device());
        },
        properties.handleTypes == driver::CU_MEM_HANDLE_TYPE_NONE ? "" : no_sharing_hint);
    pool->owned = {.handle = OwningHandle<PoolTraits>(pool->handle), .properties = properties};
  }
  set_release_threshold(*pool, release_threshold);
  return pool;
}

std::shared_ptr<const PoolState> import_pool(int file, const driver::CUmemLocation& location) {
  ImportedPools& imported = imported_pools();
  std::shared_ptr<PoolState> pool;
  const std::lock_guard lock(imported.mutex);
  constexpr int type = driver::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  driver::CUmemoryPool handle = nullptr;
  const RelaxedCaptureScope relaxed;
  driver::check(
      driver::table().cuMemPoolImportFromShareableHandle(
          &handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(file)), type, 0),
      "cuMemPoolImportFromShareableHandle", [&] { return "file descriptor " + std::to_string(file); },
      "pass the open file descriptor that allocation_handle() gave in the process that made the pool");
  OwnedPool imports{.handle = OwningHandle<PoolTraits>(handle)};
  imports.properties.handleTypes = type;
  std::weak_ptr<PoolState>& known = imported.all[handle];
  pool = known.lock();
  if (pool == nullptr) {
    pool = std::make_shared<PoolState>();
    pool->location = location;
    pool->mapped = std::make_shared<MappedPointers>();
    pool->handle = handle;
    pool->owned = take_set_aside(handle);
    known = pool;
  }
  pool->add(std::move(imports));
  return pool;
}

std::shared_ptr<const PoolState> current_pool(const driver::CUmemLocation& location, int type, std::string_view hint) {
  auto pool = std::make_shared<PoolState>();
  pool->location = location;
  driver::CUmemLocation place = location;
  const RelaxedCaptureScope relaxed;
  driver::check(driver::table().cuMemGetMemPool(&pool->handle, &place, type), "cuMemGetMemPool",
                type == driver::CU_MEM_ALLOCATION_TYPE_MANAGED ? "managed memory" : "the host", hint);
  keep_idle_memory(*pool);
  return pool;
}

void grant_every_device(const PoolState& pool) {
  std::vector<driver::CUmemAccessDesc> grants;
  for (int device = 0; device < device_count(); ++device) {
    grants.push_back({{driver::CU_MEM_LOCATION_TYPE_DEVICE, device}, driver::CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  }
  const RelaxedCaptureScope relaxed;
  driver::check(driver::table().cuMemPoolSetAccess(pool.handle, grants.data(), grants.size()), "cuMemPoolSetAccess",
                [&] { return describe(pool); });
}

}  // namespace cucore::detail
