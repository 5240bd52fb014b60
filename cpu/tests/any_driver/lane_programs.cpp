// Makes programs whose lanes exchange values: see lane_programs.hpp. Each is of a few parts between barriers of the
// block, and each part keeps a warp's lanes among themselves. The file is long because it is a list of parts.
#include "cpu/tests/any_driver/lane_programs.hpp"

#include <array>
#include <functional>
#include <iterator>
#include <random>
#include <utility>

namespace cucore::cpu {
namespace {

using Value = LaneValue;

constexpr std::uint32_t cells_of_warp = 160;  ///< what lanes of one warp have in arrays that go by warps

// Registers that all programs have.
constexpr Value own{false, 0}, thread{false, 1}, lane{false, 2}, x{false, 3}, y{false, 4}, z{false, 5}, warp{false, 6};

class LaneWriter {
 public:
  LaneWriter(std::uint32_t seed, LaneProgramKind kind) : random_(seed), kind_(kind) {}

  LaneProgram make() {
    static constexpr std::uint32_t shapes[][3] = {
        {8, 4, 1},  {16, 2, 1}, {4, 4, 2},   {2, 16, 1}, {32, 1, 1}, {1, 32, 1}, {4, 8, 1},  {2, 4, 4},  {1, 1, 32},
        {24, 3, 1}, {8, 8, 1},  {16, 16, 1}, {32, 4, 1}, {5, 7, 1},  {12, 5, 1}, {33, 2, 1}, {7, 3, 3},  {16, 1, 1},
        {6, 2, 1},  {64, 2, 1}, {10, 1, 3},  {8, 4, 3},  {16, 4, 1}, {4, 4, 4},  {20, 4, 1}, {96, 1, 1}, {2, 2, 2}};
    const auto& shape = shapes[pick(std::size(shapes))];
    std::copy_n(shape, 3, machine_.block);
    machine_.blocks = 2;
    machine_.asks_for_size = pick(2) != 0;
    machine_.shifts = pick(2) != 0;
    machine_.registers = 7;
    // What nothing stands between: a store and a load, a load and a store, or neither.
    if (kind_ == LaneProgramKind::Exchanges) {
      const unsigned kinds = pick(4);
      loads_wait_ = kinds == 0;
      stores_wait_ = kinds == 1;
    }
    const bool is_volatile = pick(4) == 0;
    const std::uint32_t words = std::max(warps() * cells_of_warp, size(2) * size(1) * std::max(size(0) + 3, 34U)) + 128;
    static constexpr LaneSpace spaces[] = {LaneSpace::Shared, LaneSpace::Shared, LaneSpace::Generic, LaneSpace::Global};
    machine_.arrays = {{spaces[pick(std::size(spaces))], words, 0, is_volatile},
                       {LaneSpace::Global, words, words, false},  // of numbers that nobody changes
                       {LaneSpace::Shared, words, words, is_volatile}};
    begin();
    std::string steps;
    for (unsigned parts = 1 + pick(2); parts > 0; --parts) {
      const auto& [name, part] = pick_part();
      steps += std::string(steps.empty() ? "" : ", ") + name;
      emit({.op = LaneOp::Barrier});
      (this->*part)();
    }
    machine_.kernel = std::move(here_);
    LaneProgram made{.machine = std::move(machine_),
                     .steps = std::move(steps),
                     .is_same_on_gpus = is_volatile && is_sure_,
                     .expected = {},
                     .fault = {}};
    made.expected = made.machine.run(&made.fault);
    return made;
  }

 private:
  using Part = void (LaneWriter::*)();

  unsigned pick(std::size_t below) {
    return std::uniform_int_distribution<unsigned>(0, static_cast<unsigned>(below) - 1)(random_);
  }
  std::uint32_t size(int axis) const { return machine_.block[axis]; }
  std::uint32_t threads() const { return machine_.threads(); }
  std::uint32_t warps() const { return (threads() + 31) / 32; }
  bool is_one_warp() const { return threads() <= 32; }

  // ---- steps ----

  void emit(LaneStep step) { here_.push_back(std::move(step)); }
  Value fresh() { return {false, machine_.registers++}; }
  static Value n(std::uint32_t number) { return {true, number}; }
  void put(Value to, LaneOp op, Value a, Value b = {}, Value c = {}) {
    emit({.op = op, .to = to.number, .a = a, .b = b, .c = c});
  }
  Value get(LaneOp op, Value a, Value b = {}, Value c = {}) {
    const Value to = fresh();
    put(to, op, a, b, c);
    return to;
  }
  Value add(Value a, Value b) { return get(LaneOp::Add, a, b); }
  Value mul(Value a, Value b) { return get(LaneOp::Mul, a, b); }
  void store(Value at, Value value, std::int32_t offset = 0, std::uint32_t array = 0) {
    emit({.op = LaneOp::Store, .a = at, .b = value, .number = array, .offset = offset});
  }
  Value load(Value at, std::int32_t offset = 0, std::uint32_t array = 0) {
    const Value to = fresh();
    emit({.op = LaneOp::Load, .to = to.number, .a = at, .number = array, .offset = offset});
    return to;
  }
  void take_in(Value got) {
    put(own, LaneOp::Mul, own, n(3));
    put(own, LaneOp::Add, own, got);
  }
  template <typename Body>
  std::vector<LaneStep> block_of(const Body& body) {
    std::vector<LaneStep> outer = std::move(here_);
    here_.clear();
    body();
    std::swap(outer, here_);
    return outer;
  }
  template <typename Body>
  void when(Value holds, const Body& body) {
    std::vector<LaneStep> inner = block_of(body);
    emit({.op = LaneOp::If, .a = holds, .body = std::move(inner)});
  }
  template <typename Body>
  void repeat(const Body& body) {
    Value again;
    std::vector<LaneStep> inner = block_of([&] { again = body(); });
    emit({.op = LaneOp::Repeat, .a = again, .body = std::move(inner)});
  }

  /// Between what all lanes stored and what they load then; and between loads and stores.
  void before_loads() {
    if (kind_ == LaneProgramKind::Synchronised || loads_wait_) emit({.op = LaneOp::WarpBarrier});
  }
  void before_stores() {
    if (kind_ == LaneProgramKind::Synchronised || stores_wait_) emit({.op = LaneOp::WarpBarrier});
  }

  void begin() {
    for (std::uint32_t axis = 0; axis < 3; ++axis) emit({.op = LaneOp::Tid, .to = 3 + axis, .number = axis});
    const Value rows = fresh();
    emit({.op = LaneOp::Mul, .to = rows.number, .a = z, .b = n(size(1)), .number = 2});
    put(rows, LaneOp::Add, rows, y);
    emit({.op = LaneOp::Mul, .to = rows.number, .a = rows, .b = n(size(0)), .number = 1});
    put(thread, LaneOp::Add, rows, x);
    if (pick(3) == 0)
      emit({.op = LaneOp::Laneid, .to = lane.number});
    else
      put(lane, LaneOp::And, thread, n(31));
    put(warp, LaneOp::Shr, thread, n(5));
    for (const std::uint32_t array : {0U, 2U}) {
      const Value at = fresh();
      put(at, LaneOp::Copy, thread);
      repeat([&] {
        const std::uint32_t first = machine_.arrays[array].first;
        const Value place = add(at, n(first)), value = mul(place, n(40503));
        put(value, LaneOp::Rem, value, n(1009));
        store(at, value, 0, array);
        put(at, LaneOp::Add, at, n(threads()));
        return get(LaneOp::Less, at, n(machine_.arrays[array].words));
      });
    }
  }

  // ---- places ----

  Value in_warp(Value index) { return add(mul(warp, n(cells_of_warp)), index); }

  /// A two-dimensional array's row for each row of threads, with or without padding.
  struct Rows {
    std::uint32_t pitch;
    Value place;
  };
  Rows rows() {
    const std::uint32_t pitches[] = {size(0), size(0), size(0) + 1, std::max(size(0), 33U), std::max(size(0), 32U)};
    return rows_of(pitches[pick(std::size(pitches))]);
  }
  Rows rows_of(std::uint32_t pitch) {
    const Value row = size(2) > 1 ? add(mul(z, n(size(1))), y) : y;
    return {pitch, add(mul(row, n(pitch)), x)};
  }

  /// Whether the thread so many steps away is one of the same warp; if it is off the block it is not.
  Value has_neighbour(int dx, int dy, int dz) {
    Value holds = n(1);
    const auto also = [&](Value one) { holds = holds.is_number ? one : get(LaneOp::And, holds, one); };
    const auto within = [&](Value at, int by, std::uint32_t end) {
      if (by > 0) also(get(LaneOp::Less, at, n(end - static_cast<std::uint32_t>(by))));
      if (by < 0) also(get(LaneOp::Less, n(static_cast<std::uint32_t>(-by) - 1), at));
    };
    within(x, dx, size(0));
    within(y, dy, size(1));
    within(z, dz, size(2));
    if (!is_one_warp()) {
      const int by = dx + static_cast<int>(size(0)) * (dy + static_cast<int>(size(1)) * dz);
      const Value other = get(LaneOp::Shr, add(thread, n(static_cast<std::uint32_t>(by))), n(5));
      also(get(LaneOp::Equal, other, warp));
    }
    return holds;
  }

  // ---- parts ----

  void neighbours() {
    const Rows at = rows();
    store(at.place, own);
    for (unsigned rounds = 1 + pick(3); rounds > 0; --rounds) {
      const int dx = static_cast<int>(pick(3)) - 1, dy = static_cast<int>(pick(3)) - 1;
      const int dz = size(2) > 1 ? static_cast<int>(pick(3)) - 1 : 0;
      const int away = dx + static_cast<int>(at.pitch) * (dy + static_cast<int>(size(1)) * dz);
      before_loads();
      if (pick(2) != 0) {
        when(has_neighbour(dx, dy, dz), [&] { take_in(load(at.place, away)); });
      } else {
        const Value holds = has_neighbour(dx, dy, dz);
        take_in(load(get(LaneOp::Select, add(at.place, n(static_cast<std::uint32_t>(away))), at.place, holds)));
      }
      before_stores();
      store(at.place, own);
    }
  }

  /// The next place whatever stands there: of the next row where this one ends.
  void into_the_next_row() {
    if (!is_one_warp()) return neighbours();
    const Rows at = rows();
    const int by = 1 + static_cast<int>(pick(4));
    store(at.place, own);
    for (unsigned rounds = 1 + pick(2); rounds > 0; --rounds) {
      before_loads();
      take_in(load(at.place, by));
      before_stores();
      store(at.place, own);
    }
  }

  void transpose() {
    if (!is_one_warp()) return linear();
    const Value transposed =
        size(2) == 1 ? add(mul(x, n(size(1))), y) : add(mul(add(mul(x, n(size(1))), y), n(size(2))), z);
    store(thread, own);
    before_loads();
    take_in(load(transposed));
    before_stores();
    store(thread, own);
    before_loads();
    take_in(load(transposed));
  }

  void linear() {
    const Value at = in_warp(lane);
    store(at, own);
    for (unsigned rounds = 1 + pick(3); rounds > 0; --rounds) {
      const unsigned by = 1 + pick(31);
      before_loads();
      switch (pick(4)) {
        case 0:
          take_in(load(in_warp(get(LaneOp::Xor, lane, n(by)))));
          break;
        case 1:
          take_in(load(in_warp(get(LaneOp::And, add(lane, n(by)), n(31)))));
          break;
        case 2:
          take_in(load(at, static_cast<std::int32_t>(by)));
          break;
        default:
          when(get(LaneOp::Less, n(by - 1), lane), [&] { take_in(load(at, -static_cast<std::int32_t>(by))); });
      }
      before_stores();
      store(at, own);
    }
  }

  /// Sums in one warp, by distances that are halved; of all lanes, or of those that have one to add.
  void tree() {
    const bool is_guarded = pick(2) != 0;
    const Value at = in_warp(lane);
    const auto level = [&](Value by, Value guard) {
      const auto adds = [&] {
        before_loads();
        const Value got = load(add(at, by)), had = load(at);
        before_stores();
        store(at, add(got, had));
      };
      // Lanes that wait for each other must all come there.
      if (guard.is_number || kind_ == LaneProgramKind::Synchronised || loads_wait_ || stores_wait_) {
        before_loads();
        const Value got = load(add(at, by)), had = load(at), sum = add(got, had);
        before_stores();
        if (guard.is_number) return store(at, sum);
        return when(guard, [&] { store(at, sum); });
      }
      when(guard, adds);
    };
    store(at, own);
    if (pick(2) != 0) {
      for (std::uint32_t by = 16; by != 0; by /= 2) level(n(by), is_guarded ? get(LaneOp::Less, lane, n(by)) : n(1));
    } else {
      const Value by = fresh();
      put(by, LaneOp::Set, n(16));
      repeat([&] {
        level(by, is_guarded ? get(LaneOp::Less, lane, by) : n(1));
        put(by, LaneOp::Shr, by, n(1));
        return get(LaneOp::Less, n(0), by);
      });
    }
    before_loads();
    take_in(is_guarded ? load(in_warp(n(0))) : load(at));
  }

  /// Columns of a block that is one warp.
  void tree_of_columns() {
    if (!is_one_warp() || size(1) < 2) return tree();
    const Rows at = rows();
    store(at.place, own);
    for (std::uint32_t by = std::bit_floor(size(1) - 1); by != 0; by /= 2) {
      const Value holds = get(LaneOp::And, get(LaneOp::Less, y, n(by)), get(LaneOp::Less, y, n(size(1) - by)));
      before_loads();
      const Value got = load(get(LaneOp::Select, add(at.place, n(by * at.pitch)), at.place, holds));
      const Value sum = add(load(at.place), got);
      before_stores();
      when(holds, [&] { store(at.place, sum); });
    }
    before_loads();
    take_in(load(get(LaneOp::Sub, at.place, mul(y, n(at.pitch)))));
  }

  /// Hillis and Steele's.
  void scan() {
    const Value at = in_warp(lane);
    store(at, own);
    const auto level = [&](Value by) {
      const Value adds = get(LaneOp::Less, get(LaneOp::Sub, by, n(1)), lane);
      before_loads();
      when(adds, [&] { put(own, LaneOp::Add, own, load(get(LaneOp::Sub, at, by))); });
      before_stores();
      store(at, own);
    };
    if (pick(2) != 0) {
      for (std::uint32_t by = 1; by < 32; by *= 2) level(n(by));
      return;
    }
    const Value by = fresh();
    put(by, LaneOp::Set, n(1));
    repeat([&] {
      level(by);
      put(by, LaneOp::Shl, by, n(1));
      return get(LaneOp::Less, by, n(32));
    });
  }

  /// Blelloch's: up a tree, and down.
  void scan_of_trees() {
    store(in_warp(lane), own);
    for (std::uint32_t by = 1; by < 32; by *= 2) {
      const Value last = get(LaneOp::Sub, mul(add(lane, n(1)), n(2 * by)), n(1));
      const Value holds = get(LaneOp::Less, last, n(32)), at = in_warp(get(LaneOp::Select, last, lane, holds));
      before_loads();
      const Value low = load(get(LaneOp::Select, get(LaneOp::Sub, at, n(by)), at, holds)), high = load(at);
      before_stores();
      when(holds, [&] { store(at, add(low, high)); });
    }
    before_stores();
    when(get(LaneOp::Equal, lane, n(0)), [&] { store(in_warp(n(31)), n(0)); });
    for (std::uint32_t by = 16; by != 0; by /= 2) {
      const Value last = get(LaneOp::Sub, mul(add(lane, n(1)), n(2 * by)), n(1));
      const Value holds = get(LaneOp::Less, last, n(32)), at = in_warp(get(LaneOp::Select, last, lane, holds));
      const Value below = get(LaneOp::Select, get(LaneOp::Sub, at, n(by)), at, holds);
      before_loads();
      const Value low = load(below), high = load(at);
      before_stores();
      when(holds, [&] {
        store(below, high);
        store(at, add(low, high));
      });
    }
    before_loads();
    take_in(load(in_warp(lane)));
  }

  void bitonic() {
    const Value at = in_warp(lane);
    store(at, own);
    for (std::uint32_t length = 2; length <= 32; length *= 2) {
      for (std::uint32_t by = length / 2; by != 0; by /= 2) {
        const Value other = in_warp(get(LaneOp::Xor, lane, n(by)));
        const Value is_upper = get(LaneOp::Less, n(0), get(LaneOp::And, lane, n(by)));
        const Value goes_down = get(LaneOp::Less, n(0), get(LaneOp::And, lane, n(length)));
        before_loads();
        const Value mine = load(at), its = load(other);
        const Value least = get(LaneOp::Min, mine, its), most = get(LaneOp::Max, mine, its);
        const Value takes_most = get(LaneOp::Xor, is_upper, goes_down);
        before_stores();
        store(at, get(LaneOp::Select, most, least, takes_most));
      }
    }
    before_loads();
    take_in(load(at));
  }

  void stencil() {
    if (!is_one_warp()) return neighbours();
    const std::uint32_t pitch = size(0) + 2;
    const Value row = size(2) > 1 ? add(mul(z, n(size(1))), y) : y;
    const Value at = add(mul(add(row, n(1)), n(pitch)), add(x, n(1)));
    store(at, own);
    const Value left = fresh();
    put(left, LaneOp::Set, n(2 + pick(2)));
    repeat([&] {
      before_loads();
      const auto by = static_cast<std::int32_t>(pitch);
      const Value sum = add(add(load(at, -1), load(at, 1)), add(load(at, -by), load(at, by)));
      take_in(sum);
      before_stores();
      store(at, own);
      put(left, LaneOp::Sub, left, n(1));
      return get(LaneOp::Less, n(0), left);
    });
  }

  /// One lane leaves what all take in.
  void leader() {
    const Value place = in_warp(n(pick(8)));
    const unsigned kind = pick(3);
    for (unsigned rounds = 1 + pick(3); rounds > 0; --rounds) {
      Value leads;
      if (kind == 0 || threads() % 32 != 0) {
        leads = get(LaneOp::Equal, lane, n(pick(std::min(threads(), 32U) / (threads() % 32 == 0 ? 1 : 8))));
      } else if (kind == 1) {
        leads = get(LaneOp::Equal, lane, get(LaneOp::And, get(LaneOp::Shr, warp, n(1)), n(3)));
      } else {
        // The last one of those that have something.
        const Value votes = fresh();
        put(votes, LaneOp::Ballot, get(LaneOp::And, own, n(2)));
        const Value above = get(LaneOp::Shr, get(LaneOp::Shr, votes, lane), n(1));
        const Value has = get(LaneOp::And, get(LaneOp::Shr, votes, lane), n(1));
        leads = get(LaneOp::And, has, get(LaneOp::Equal, above, n(0)));
      }
      before_stores();
      when(leads, [&] { store(place, own); });
      before_loads();
      take_in(load(place));
    }
  }

  /// All load a number, and one of them changes it.
  void counter() {
    const Value place = in_warp(n(pick(8)));
    const unsigned who = pick(std::max(1U, std::min(8U, threads() % 32)));
    for (unsigned rounds = 1 + pick(3); rounds > 0; --rounds) {
      before_loads();
      const Value got = load(place);
      before_stores();
      when(get(LaneOp::Equal, lane, n(who)), [&] { store(place, add(got, n(5))); });
      take_in(add(got, lane));
    }
  }

  /// A queue of the warp: each who has something finds its place by a vote.
  void compaction() {
    const Value count = fresh();
    put(count, LaneOp::Set, n(0));
    const Value below = get(LaneOp::Sub, get(LaneOp::Shl, n(1), lane), n(1));
    for (unsigned rounds = 1 + pick(3); rounds > 0; --rounds) {
      const Value has = get(LaneOp::And, get(LaneOp::Shr, own, n(pick(5))), n(1)), votes = fresh();
      put(votes, LaneOp::Ballot, has);
      const Value at = in_warp(add(count, get(LaneOp::Popc, get(LaneOp::And, votes, below))));
      before_stores();
      when(has, [&] { store(at, own); });
      put(count, LaneOp::Add, count, get(LaneOp::Popc, votes));
      before_loads();
      take_in(load(in_warp(lane)));
    }
  }

  /// Places from memory: the multiples of an odd number, which the cells of the constant array are made to.
  void permutation() {
    // Two tables of which each lane's place differs: first_word() of consecutive cells, made unique by the lane's rank.
    const auto table = [&](unsigned by) {
      const Value read = load(get(LaneOp::And, warp, n(3)), 0, 1);  // the same for all lanes of a warp
      return get(LaneOp::And, add(mul(lane, n(2 * by + 1)), read), n(31));
    };
    const auto loaded = [&] {
      // As programs have it: the table itself is in memory. Each lane fills its cell for itself.
      const Value at = add(in_warp(lane), n(0));
      const Value index = table(pick(8));
      store(at, index, 64);
      return load(at, 64);
    };
    const Value to = in_warp(loaded());
    before_stores();
    const Value from = in_warp(get(LaneOp::Xor, loaded(), n(pick(32))));
    before_stores();
    store(to, own);
    before_loads();
    take_in(load(from));
    before_stores();
    store(in_warp(lane), own);
    before_loads();
    take_in(load(from));
  }

  /// Rows that all threads store and that overlap: every place gets what follows from it. Then others that do not.
  void overlapping_rows() {
    if (!is_one_warp() || machine_.arrays[0].space == LaneSpace::Global) return neighbours();
    const std::uint32_t pitch = 1 + pick(std::max(1U, size(0) - 1));
    const Value place = add(mul(y, n(pitch)), x);
    store(place, mul(place, n(7)), 0, 2);
    emit({.op = LaneOp::Barrier});
    const Rows at = rows_of(std::max(size(0), 33U));
    store(at.place, own);
    before_loads();
    const int dy = pick(2) != 0 ? 1 : -1;
    when(has_neighbour(0, dy, 0), [&] { take_in(load(at.place, dy * static_cast<int>(at.pitch))); });
    before_stores();
    store(at.place, own);
    before_loads();
    when(has_neighbour(1, 0, 0), [&] { take_in(load(at.place, 1)); });
    emit({.op = LaneOp::Barrier});
    take_in(load(place, 0, 2));
  }

  /// Past the end of one array into the one that was declared behind it.
  void into_the_next_array() {
    if (machine_.arrays[0].space != LaneSpace::Shared) return linear();
    is_sure_ = false;
    const Value at = in_warp(lane);
    store(at, own, 0, 2);
    before_loads();
    take_in(load(in_warp(get(LaneOp::Xor, lane, n(1 + pick(31)))), static_cast<int>(machine_.arrays[0].words)));
    before_stores();
    store(at, own, static_cast<int>(machine_.arrays[0].words));
    before_loads();
    take_in(load(in_warp(get(LaneOp::And, add(lane, n(1 + pick(31))), n(31))), 0, 2));
  }

  /// In place, each takes the next one's.
  void shift() {
    const Value at = in_warp(lane);
    const std::int32_t by = pick(2) != 0 ? 1 + static_cast<int>(pick(5)) : -1 - static_cast<int>(pick(5));
    for (unsigned rounds = 1 + pick(2); rounds > 0; --rounds) {
      before_loads();
      const Value got = load(at, 40 + by);
      before_stores();
      store(at, add(got, own), 40);
    }
    before_loads();
    take_in(load(at, 40));
  }

  /// Exchanges in a function that is called, which some lanes leave early.
  void function() {
    const auto id = static_cast<std::uint32_t>(machine_.functions.size());
    const bool stores = pick(2) != 0, leaves_early = pick(2) != 0;
    const std::uint32_t end = 1 + pick(31), by = 1 + pick(31);
    std::vector<LaneStep> body = block_of([&] {
      const Value of_warp = get(LaneOp::Shr, thread, n(5)), first = mul(of_warp, n(cells_of_warp));
      const Value at = add(first, lane);
      if (stores) store(at, own);
      before_loads();
      take_in(load(add(first, get(LaneOp::Xor, lane, n(by)))));
      if (leaves_early) emit({.op = LaneOp::ReturnIf, .a = get(LaneOp::Less, lane, n(end))});
      if (!leaves_early) before_stores();
      if (leaves_early && kind_ == LaneProgramKind::Synchronised) return;
      if (leaves_early) {  // of those that are still there
        store(at, own, 64);
        const Value next = get(LaneOp::Max, get(LaneOp::Xor, lane, n(1)), n(end));
        if (loads_wait_ || stores_wait_) return;
        take_in(load(add(first, next), 64));
        return;
      }
      store(at, own);
    });
    machine_.functions.push_back(std::move(body));
    if (!stores) store(in_warp(lane), own);
    emit({.op = LaneOp::Call, .a = n(0), .number = id});
    if (pick(2) != 0 && kind_ != LaneProgramKind::Synchronised) {
      before_loads();
      take_in(load(in_warp(get(LaneOp::Xor, lane, n(1 + pick(31))))));
      before_stores();
      emit({.op = LaneOp::Call, .a = n(0), .number = id});
    }
  }

  /// Barriers of the block to which warps come at different places.
  void barriers_by_warps() {
    if (is_one_warp()) return linear();
    const Value at = in_warp(lane);
    const auto exchange = [&](unsigned by) {
      store(at, own);
      before_loads();
      take_in(load(in_warp(get(LaneOp::Xor, lane, n(by)))));
      before_stores();
      store(at, own);
      emit({.op = LaneOp::Barrier});
      take_in(load(in_warp(get(LaneOp::Xor, lane, n(by)))));
      before_stores();
      store(at, own);
      before_loads();
      take_in(load(in_warp(get(LaneOp::And, add(lane, n(by)), n(31)))));
    };
    const Value is_first = get(LaneOp::Equal, warp, n(0));
    std::vector<LaneStep> body = block_of([&] { exchange(1 + pick(31)); });
    std::vector<LaneStep> other = block_of([&] { exchange(1 + pick(31)); });
    emit({.op = LaneOp::If, .a = is_first, .body = std::move(body), .other = std::move(other)});
  }

  /// Lanes that went another way first, and are together again.
  void divided() {
    const Value at = in_warp(lane);
    const std::uint32_t bits = 1 + pick(31), wanted = bits & pick(32), by = 1 + pick(31);
    const Value part = get(LaneOp::Equal, get(LaneOp::And, lane, n(bits)), n(wanted));
    before_stores();
    std::vector<LaneStep> body = block_of([&] { store(at, own); });
    std::vector<LaneStep> other = block_of([&] { store(at, mul(own, n(5))); });
    emit({.op = LaneOp::If, .a = part, .body = std::move(body), .other = std::move(other)});
    before_loads();
    take_in(load(in_warp(get(LaneOp::Xor, lane, n(by)))));
    before_stores();
    when(part, [&] { store(in_warp(get(LaneOp::Xor, lane, n(by))), own); });
    before_loads();
    take_in(load(at));
  }

  std::pair<const char*, Part> pick_part() {
    static constexpr std::pair<const char*, Part> parts[] = {
        {"neighbours", &LaneWriter::neighbours},
        {"neighbours", &LaneWriter::neighbours},
        {"into the next row", &LaneWriter::into_the_next_row},
        {"transpose", &LaneWriter::transpose},
        {"linear", &LaneWriter::linear},
        {"tree", &LaneWriter::tree},
        {"tree of columns", &LaneWriter::tree_of_columns},
        {"scan", &LaneWriter::scan},
        {"scan of trees", &LaneWriter::scan_of_trees},
        {"bitonic", &LaneWriter::bitonic},
        {"stencil", &LaneWriter::stencil},
        {"leader", &LaneWriter::leader},
        {"counter", &LaneWriter::counter},
        {"compaction", &LaneWriter::compaction},
        {"permutation", &LaneWriter::permutation},
        {"overlapping rows", &LaneWriter::overlapping_rows},
        {"into the next array", &LaneWriter::into_the_next_array},
        {"shift", &LaneWriter::shift},
        {"function", &LaneWriter::function},
        {"barriers by warps", &LaneWriter::barriers_by_warps},
        {"divided", &LaneWriter::divided},
    };
    return parts[pick(std::size(parts))];
  }

  std::mt19937 random_;
  const LaneProgramKind kind_;
  bool loads_wait_ = false, stores_wait_ = false, is_sure_ = true;
  LaneMachine machine_{};
  std::vector<LaneStep> here_;
};

}  // namespace

LaneProgram lane_program(std::uint32_t seed, LaneProgramKind kind) { return LaneWriter(seed, kind).make(); }

}  // namespace cucore::cpu
