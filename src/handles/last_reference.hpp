// The last reference to the state that copies of an object share: what close() of all of them needs.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace cucore::detail {

/// Takes `reference` away. If it was the last one, returns the state: no other thread can see it any more, so it may be
/// changed. Null pointer otherwise.
template <class State>
std::shared_ptr<std::remove_const_t<State>> take_if_last(std::shared_ptr<State>& reference) {
  auto state = std::exchange(reference, nullptr);
  if (state == nullptr || state.use_count() > 1) return nullptr;
  return std::const_pointer_cast<std::remove_const_t<State>>(std::move(state));
}

}  // namespace cucore::detail
