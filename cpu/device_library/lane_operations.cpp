// What lanes of a warp compute together: see lane_operations.hpp.
#include "cpu/device_library/lane_operations.hpp"

#include <algorithm>

namespace cucore::cpu::device_library::lane_operations {
namespace {

constexpr std::uint32_t lanes_of_warp = 32;

/// What a lane brings and takes away.
struct Lane {
  std::uint64_t value;
  std::uint32_t result;
};

/// Calls `visit(number, lane)` for the lanes that take part, the lowest first.
template <typename Visit>
void for_each(void* const* lanes, const Visit& visit) {
  for (std::uint32_t number = 0; number < lanes_of_warp; ++number)
    if (lanes[number] != nullptr) visit(number, *static_cast<Lane*>(lanes[number]));
}

template <auto Operation>
void reduce(void* const* lanes) {
  std::uint32_t result = 0;
  bool is_first = true;
  for_each(lanes, [&](std::uint32_t, const Lane& lane) {
    const auto value = static_cast<std::uint32_t>(lane.value);
    result = is_first ? value : Operation(result, value);
    is_first = false;
  });
  for_each(lanes, [&](std::uint32_t, Lane& lane) { lane.result = result; });
}

void find_equal(void* const* lanes) {
  for_each(lanes, [&](std::uint32_t, Lane& mine) {
    mine.result = 0;
    for_each(lanes, [&](std::uint32_t number, const Lane& other) {
      if (other.value == mine.value) mine.result |= 1U << number;
    });
  });
}

void compare_all(void* const* lanes) {
  std::uint32_t here = 0;
  for_each(lanes, [&](std::uint32_t number, const Lane&) { here |= 1U << number; });
  find_equal(lanes);
  for_each(lanes, [&](std::uint32_t, Lane& lane) { lane.result = lane.result == here ? here : 0; });
}

void find_lowest(void* const* lanes) {
  std::uint32_t lowest = lanes_of_warp;
  for_each(lanes, [&](std::uint32_t number, const Lane&) { lowest = std::min(lowest, number); });
  for_each(lanes, [&](std::uint32_t, Lane& lane) { lane.result = lowest; });
}

using Operation = void (*)(void* const* lanes);

std::uint32_t together(ThreadState* thread, Operation operation, std::uint64_t value, std::uint32_t mask) {
  Lane mine{.value = value, .result = 0};
  cucpu_warp_together(thread, operation, &mine, 0, mask);
  return mine.result;
}

using Word = std::uint32_t;
std::int32_t as_signed(Word word) { return static_cast<std::int32_t>(word); }

}  // namespace

Word add(ThreadState* thread, Word value, Word mask) {
  return together(thread, reduce<[](Word a, Word b) { return a + b; }>, value, mask);
}

Word bitwise_and(ThreadState* thread, Word value, Word mask) {
  return together(thread, reduce<[](Word a, Word b) { return a & b; }>, value, mask);
}

Word bitwise_or(ThreadState* thread, Word value, Word mask) {
  return together(thread, reduce<[](Word a, Word b) { return a | b; }>, value, mask);
}

Word bitwise_xor(ThreadState* thread, Word value, Word mask) {
  return together(thread, reduce<[](Word a, Word b) { return a ^ b; }>, value, mask);
}

Word min_unsigned(ThreadState* thread, Word value, Word mask) {
  return together(thread, reduce<[](Word a, Word b) { return std::min(a, b); }>, value, mask);
}

Word max_unsigned(ThreadState* thread, Word value, Word mask) {
  return together(thread, reduce<[](Word a, Word b) { return std::max(a, b); }>, value, mask);
}

Word min_signed(ThreadState* thread, Word value, Word mask) {
  return together(thread, reduce<[](Word a, Word b) { return as_signed(a) < as_signed(b) ? a : b; }>, value, mask);
}

Word max_signed(ThreadState* thread, Word value, Word mask) {
  return together(thread, reduce<[](Word a, Word b) { return as_signed(a) < as_signed(b) ? b : a; }>, value, mask);
}

Word match_any(ThreadState* thread, std::uint64_t value, Word mask) {
  return together(thread, find_equal, value, mask);
}

Word match_all(ThreadState* thread, std::uint64_t value, Word mask) {
  return together(thread, compare_all, value, mask);
}

Word elect(ThreadState* thread, Word mask) { return together(thread, find_lowest, 0, mask); }

}  // namespace cucore::cpu::device_library::lane_operations
