// The phases and counts of mbarrier objects, in the eight bytes that a program gives them: see mbarrier.hpp.
#include "cpu/device_library/mbarrier.hpp"

#include <cstring>

namespace cucore::cpu::device_library::mbarrier {
namespace {

constexpr unsigned count_bits = 20;
constexpr unsigned byte_bits = 21;
constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;
constexpr std::uint64_t byte_mask = (std::uint64_t{1} << byte_bits) - 1;
constexpr unsigned phase_bit = 63;

/// The 64 bits, taken apart. Counts wrap as their fields do.
struct Barrier {
  std::uint64_t expected, pending;  ///< arrivals: of every phase, and still missing in this one
  std::uint64_t bytes;              ///< missing, modulo 2^21: more may have come than are expected yet
  std::uint64_t phase;              ///< its parity

  explicit Barrier(std::uint64_t word)
      : expected(word & count_mask),
        pending(word >> count_bits & count_mask),
        bytes(word >> 2 * count_bits & byte_mask),
        phase(word >> phase_bit) {}

  std::uint64_t word() const {
    return (expected & count_mask) | (pending & count_mask) << count_bits | (bytes & byte_mask) << 2 * count_bits |
           phase << phase_bit;
  }

  void end_phase_if_complete() {
    if ((pending & count_mask) != 0 || (bytes & byte_mask) != 0) return;
    phase ^= 1;
    pending = expected;
  }
};

/// The object may be anywhere in shared memory that the program claims is aligned.
std::uint64_t load(const std::uint64_t* barrier) {
  std::uint64_t word = 0;
  std::memcpy(&word, barrier, sizeof word);
  return word;
}

void store(std::uint64_t* barrier, const Barrier& value) {
  const std::uint64_t word = value.word();
  std::memcpy(barrier, &word, sizeof word);
}

}  // namespace

void initialise(std::uint64_t* barrier, std::uint32_t count) {
  Barrier value(0);
  value.expected = value.pending = count;
  store(barrier, value);
}

std::uint64_t arrive(std::uint64_t* barrier, std::uint32_t count, std::uint32_t drops) {
  const std::uint64_t before = load(barrier);
  Barrier value(before);
  if (drops != 0) value.expected -= count;
  value.pending -= count;
  value.end_phase_if_complete();
  store(barrier, value);
  return before;
}

void expect_bytes(std::uint64_t* barrier, std::uint32_t bytes) {
  Barrier value(load(barrier));
  value.bytes += bytes;
  store(barrier, value);
}

void complete_bytes(std::uint64_t* barrier, std::uint32_t bytes) {
  Barrier value(load(barrier));
  value.bytes -= bytes;
  value.end_phase_if_complete();
  store(barrier, value);
}

void arrive_uncounted(std::uint64_t* barrier) {
  Barrier value(load(barrier));
  ++value.pending;
  store(barrier, value);
  arrive(barrier, 1, 0);
}

std::uint32_t test(const std::uint64_t* barrier, std::uint64_t state) {
  return Barrier(load(barrier)).phase != Barrier(state).phase ? 1 : 0;
}

std::uint32_t test_parity(const std::uint64_t* barrier, std::uint32_t parity) {
  return Barrier(load(barrier)).phase != (parity & 1) ? 1 : 0;
}

std::uint32_t wait(ThreadState* thread, const std::uint64_t* barrier, std::uint64_t state) {
  if (test(barrier, state) != 0) return 1;
  cucpu_yield(thread);
  return test(barrier, state);
}

std::uint32_t wait_parity(ThreadState* thread, const std::uint64_t* barrier, std::uint32_t parity) {
  if (test_parity(barrier, parity) != 0) return 1;
  cucpu_yield(thread);
  return test_parity(barrier, parity);
}

std::uint32_t pending_count(std::uint64_t state) { return static_cast<std::uint32_t>(Barrier(state).pending); }

}  // namespace cucore::cpu::device_library::mbarrier
