// Texture and surface references: see texture_reference.hpp.
#include "cpu/runtime/texture/texture_reference.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "cpu/runtime/process/handle_table.hpp"
#include "cpu/runtime/texture/texture.hpp"

namespace cucore::cpu::runtime {

namespace {

struct Reference {
  std::uint64_t* memory = nullptr;  ///< of the module's variable; null: no module's
  bool is_surface = false;
  std::mutex mutex;
  ReferenceState state;
  unsigned long long object = 0;  ///< what the state is now, if it is bound
};

using ReferenceTable = HandleTable<Reference, HandleKind::TextureReference>;
ReferenceTable& reference_table() {
  static auto* const table = new ReferenceTable;
  return *table;
}

struct References {
  std::mutex mutex;
  std::map<std::uint64_t*, std::uintptr_t> of_variables;
};
References& references() {
  static auto* const instance = new References;
  return *instance;
}

void put_object(Reference& reference, unsigned long long object) {
  if (reference.memory) std::atomic_ref(*reference.memory).store(object);
  if (reference.object != 0) (void)destroy_resource_object(reference.object, reference.is_surface);
  reference.object = object;
}

std::shared_ptr<Reference> find(const void* handle, bool is_surface) {
  auto reference = reference_table().find(handle);
  return reference && reference->is_surface == is_surface ? reference : nullptr;
}

/// Ends a module's reference with the module.
class EndOfReference {
 public:
  explicit EndOfReference(std::uint64_t* memory) : memory_(memory) {}
  ~EndOfReference() {
    References& self = references();
    const std::lock_guard lock(self.mutex);
    const auto found = self.of_variables.find(memory_);
    if (const auto reference = reference_table().remove(reinterpret_cast<const void*>(found->second))) {
      reference->memory = nullptr;
      put_object(*reference, 0);
    }
    self.of_variables.erase(found);
  }
  EndOfReference(const EndOfReference&) = delete;
  EndOfReference& operator=(const EndOfReference&) = delete;

 private:
  std::uint64_t* const memory_;
};

std::uintptr_t make(std::uint64_t* memory, bool is_surface) {
  auto reference = std::make_shared<Reference>();
  reference->memory = memory;
  reference->is_surface = is_surface;
  return reference_table().insert(std::move(reference));
}

std::uintptr_t reference_at(std::uint64_t* memory, bool is_surface, std::shared_ptr<const void>* ends_with_module) {
  References& self = references();
  const std::lock_guard lock(self.mutex);
  auto [found, is_new] = self.of_variables.try_emplace(memory, 0);
  if (is_new) {
    found->second = make(memory, is_surface);
    *ends_with_module = std::make_shared<const EndOfReference>(memory);
  }
  return found->second;
}

Result<ReferenceState> state(const void* handle, bool is_surface) {
  const auto reference = find(handle, is_surface);
  if (!reference) return ErrorCode::InvalidHandle;
  const std::lock_guard lock(reference->mutex);
  return reference->state;
}

Result<void> change(const void* handle, bool is_surface, const ReferenceState& state) {
  const auto reference = find(handle, is_surface);
  if (!reference) return ErrorCode::InvalidHandle;
  const std::lock_guard lock(reference->mutex);
  Result<unsigned long long> object = 0ULL;
  if (state.is_bound)
    object = is_surface ? create_surface_object(state.resource)
                        : create_texture_object(state.resource, state.texture, nullptr);
  if (!object) return std::move(object).failure();
  put_object(*reference, *object);
  reference->state = state;
  return {};
}

}  // namespace

CUtexref texture_reference_at(std::uint64_t* memory, std::shared_ptr<const void>* ends_with_module) {
  return reinterpret_cast<CUtexref>(reference_at(memory, false, ends_with_module));
}

CUsurfref surface_reference_at(std::uint64_t* memory, std::shared_ptr<const void>* ends_with_module) {
  return reinterpret_cast<CUsurfref>(reference_at(memory, true, ends_with_module));
}

CUtexref create_texture_reference() { return reinterpret_cast<CUtexref>(make(nullptr, false)); }

Result<void> destroy_texture_reference(CUtexref handle) {
  const auto reference = find(handle, false);
  if (!reference) return ErrorCode::InvalidHandle;
  if (reference->memory || !reference_table().remove(handle)) return ErrorCode::InvalidValue;
  put_object(*reference, 0);
  return {};
}

Result<ReferenceState> state_of(CUtexref reference) { return state(reference, false); }
Result<ReferenceState> state_of(CUsurfref reference) { return state(reference, true); }
Result<void> change(CUtexref reference, const ReferenceState& state) { return change(reference, false, state); }
Result<void> change(CUsurfref reference, const ReferenceState& state) { return change(reference, true, state); }

}  // namespace cucore::cpu::runtime
