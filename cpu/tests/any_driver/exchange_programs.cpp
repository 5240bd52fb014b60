// Makes programs whose lanes exchange values: see exchange_programs.hpp. Each step is written as PTX and done to a
// model of the block side by side: all lanes that take part load, then all of them store. It is long because each step
// stands there twice, as text and as what it does.
#include "cpu/tests/any_driver/exchange_programs.hpp"

#include <bit>
#include <functional>
#include <iterator>
#include <random>

namespace cucore::cpu {
namespace {

using Words = std::vector<std::uint32_t>;

class ExchangeWriter {
 public:
  explicit ExchangeWriter(std::uint32_t seed) : random_(seed) {
    static constexpr std::uint32_t sizes[] = {32, 33, 64, 100, 160, 20};
    threads_ = sizes[pick(std::size(sizes))];
    is_shared_ = pick(2) != 0;
    joins_by_barrier_ = pick(2) != 0;
    is_volatile_ = pick(2) != 0;
    overwrites_only_ = is_shared_ && pick(3) == 0;
    static constexpr Order orders[] = {Order::StoreThenLoad, Order::StoreThenLoad, Order::StoreThenStore,
                                       Order::LoadThenStore, Order::LoadThenGive,  Order::LoadThenPass,
                                       Order::LoadThenRepeat};
    if (!is_volatile_ && !overwrites_only_) order_ = orders[pick(std::size(orders))];
    if (order_ != Order::StoreThenLoad) is_shared_ = true;
    const bool goes_beyond_warps = order_ == Order::LoadThenGive || order_ == Order::LoadThenPass;
    if (goes_beyond_warps && pick(2) == 0) threads_ = 32 + pick(993);
    names_no_lanes_ = pick(4) == 0;
    if (names_no_lanes_) {
      static constexpr std::uint32_t of_one_warp[] = {9, 20, 31, 32};
      threads_ = of_one_warp[pick(std::size(of_one_warp))];
      is_shared_ = pick(3) == 0;
      joins_by_barrier_ = is_volatile_ = overwrites_only_ = false;
      order_ = Order::StoreThenLoad;
    }
    if (order_ == Order::LoadThenRepeat) {
      static constexpr std::uint32_t widths[] = {16, 20, 32, 48, 64, 96};
      is_shared_ = pick(2) != 0;
      rows_ = 2 + pick(9);
      threads_ = widths[pick(std::size(widths))] * rows_;
    }
    warps_ = (threads_ + 31) / 32;
    values_.resize(std::size_t{blocks} * threads_);
    cells_.resize(std::size_t{blocks} * warps_ * exchange_cells);
  }

  ExchangeProgram make() {
    begin();
    for (unsigned steps = 3 + pick(4); steps > 0; --steps) step(0);
    line("st.global.u32 [%own], %v");
    text_ += "  ret;\n}\n";
    return {.blocks = blocks,
            .threads = threads_,
            .rows = rows_,
            .is_same_on_gpus = is_volatile_ && !counts_on_joins_,
            .ptx = text_,
            .expected = values_};
  }

 private:
  static constexpr std::uint32_t blocks = 3;
  /// What nothing stands between: one of them in a program, so that each is found by itself.
  enum class Order : std::uint8_t {
    StoreThenLoad,
    StoreThenStore,
    LoadThenStore,
    LoadThenGive,
    LoadThenPass,
    LoadThenRepeat
  };
  using TakesPart = std::function<bool(std::uint32_t lane)>;

  unsigned pick(std::size_t below) {
    return std::uniform_int_distribution<unsigned>(0, static_cast<unsigned>(below) - 1)(random_);
  }
  void line(const std::string& instruction) { text_ += "  " + instruction + ";\n"; }
  std::string fresh(const char* kind) { return std::string(kind) + std::to_string(numbers_++); }
  static std::string number(std::uint64_t value) { return std::to_string(value); }

  template <typename Visit>
  void for_each_warp(const Visit& visit) {
    for (std::uint32_t block = 0; block < blocks; ++block) {
      for (std::uint32_t warp = 0; warp < warps_; ++warp) {
        std::uint32_t* const values = &values_[std::size_t{block} * threads_ + std::size_t{warp} * 32];
        visit(values, std::min(32U, threads_ - warp * 32),
              &cells_[(std::size_t{block} * warps_ + warp) * exchange_cells]);
      }
    }
  }

  void begin() {
    text_ =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 cells, .param .u64 out, "
        ".param .u32 width)\n{\n"
        "  .reg .u32 %r<2000>, %v, %t, %lane, %near, %b, %width;\n  .reg .u64 %d<2000>, %far, %own;\n  .reg .pred "
        "%p<2000>;\n"
        "  .shared .align 4 .b8 block[" +
        number(std::uint64_t{warps_} * exchange_cells * 4) +
        "];\n"
        "  ld.param.u64 %far, [cells];\n  ld.param.u64 %own, [out];\n  cvta.to.global.u64 %far, %far;\n"
        "  ld.param.u32 %width, [width];\n"
        "  cvta.to.global.u64 %own, %own;\n  mov.u32 %t, %tid.x;\n  mov.u32 %b, %ctaid.x;\n" +
        (rows_ > 1 ? "  mov.u32 %r1997, %tid.y;\n  mad.lo.u32 %t, %r1997, " + number(threads_ / rows_) + ", %t;\n"
                   : std::string()) +
        "  " + (names_no_lanes_ ? "mov.u32 %lane, %t" : "and.b32 %lane, %t, 31") +
        ";\n"
        "  mad.lo.u32 %r1999, %b, " +
        number(threads_) +
        ", %t;\n  mad.wide.u32 %own, %r1999, 4, %own;\n"
        "  mul.lo.u32 %v, %r1999, 2654435761;\n  shr.u32 %v, %v, 7;\n  mov.u32 %near, block;\n  " +
        (names_no_lanes_ ? "mov.u32 %r1998, 0" : "shr.u32 %r1998, %t, 5") +
        ";\n"
        "  mad.lo.u32 %near, %r1998, " +
        number(exchange_cells * 4) +
        ", %near;\n"
        "  mad.lo.u32 %r1998, %b, " +
        number(warps_) +
        ", %r1998;\n"
        "  mad.wide.u32 %far, %r1998, " +
        number(exchange_cells * 4) + ", %far;\n";
    // Each lane fills a fourth of the warp's cells with what follows from their place.
    const std::uint32_t first_lanes = 32;
    for_each_warp([&](std::uint32_t* values, std::uint32_t lanes, std::uint32_t* cells) {
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const auto thread = static_cast<std::uint32_t>(values - values_.data()) + lane;
        values[lane] = (thread * 2654435761U) >> 7;
      }
      for (std::uint32_t cell = 0; cell < exchange_cells; ++cell) cells[cell] = cell * 40503 % 1009;
    });
    const std::string cell = fresh("%r"), head = fresh("L"), p = fresh("%p"), filled = fresh("%r");
    const bool is_short = threads_ % first_lanes != 0;
    line("mov.u32 " + cell + (is_short ? ", 0" : ", %lane"));  // of a warp that is not whole, every lane all of them
    text_ += head + ":\n";
    line("mul.lo.u32 " + filled + ", " + cell + ", 40503");
    line("rem.u32 " + filled + ", " + filled + ", 1009");
    store(cell, filled);
    line("add.u32 " + cell + ", " + cell + (is_short ? ", 1" : ", 32"));
    line("setp.lt.u32 " + p + ", " + cell + ", " + number(exchange_cells));
    line("@" + p + " bra " + head);
    line("bar.sync 0");
  }

  /// The operand that names a cell of the warp.
  std::string cell_at(const std::string& index) {
    const std::string at = fresh(is_shared_ ? "%r" : "%d");
    line((is_shared_ ? "mad.lo.u32 " : "mad.wide.u32 ") + at + ", " + index + ", 4, " +
         (is_shared_ ? "%near" : "%far"));
    return "[" + at + "]";
  }
  std::string space() const {
    return std::string(is_volatile_ ? "volatile." : "") + (is_shared_ ? "shared" : "global");
  }
  void store(const std::string& index, const std::string& value) {
    const std::string at = cell_at(index);
    line("st." + space() + ".u32 " + at + ", " + value);
  }
  std::string load(const std::string& index) {
    const std::string at = cell_at(index), got = fresh("%r");
    line("ld." + space() + ".u32 " + got + ", " + at);
    return got;
  }

  /// Where lanes that went different ways are together again: said by a barrier, or left to the compiler.
  void join() {
    if (joins_by_barrier_) line("bar.warp.sync 0xffffffff");
    counts_on_joins_ = !joins_by_barrier_;
  }

  /// Where lanes only count on nobody storing before all have loaded, they wait for each other before they load.
  void before_loads() {
    if (overwrites_only_) line("bar.warp.sync 0xffffffff");
  }

  void step(unsigned depth) {
    if (order_ == Order::LoadThenGive) return pick(3) == 0 ? vote() : give_anew();
    if (order_ == Order::LoadThenPass) {
      const unsigned what = pick(4);
      return what == 0 ? vote() : what == 1 ? go_through_rows() : pass_on();
    }
    if (order_ == Order::LoadThenRepeat) return pick(4) == 0 ? vote() : repeat();
    if (order_ != Order::StoreThenLoad) return depth == 0 && pick(3) == 0 ? again() : overwrite();
    const unsigned what = pick(depth != 0 ? 4 : overwrites_only_ ? 5 : 8);
    const bool names_lanes = what == 2 || what == 4 || what == 6;
    switch (names_no_lanes_ && names_lanes ? 0 : what) {
      case 0:
      case 1:
        return exchanges([](std::uint32_t) { return true; });
      case 2:
        return vote();
      case 3:
        return one_for_all();
      case 4:
        return halving();
      case 5:
        return network();
      case 6:
        return some_lanes();
      default:
        return again();
    }
  }

  /// Each lane leaves its value, then takes in that of others one after the other and leaves what it has then.
  void exchanges(const TakesPart& part) {
    store("%lane", "%v");
    for_each_warp([&](std::uint32_t* values, std::uint32_t lanes, std::uint32_t* cells) {
      for (std::uint32_t lane = 0; lane < lanes; ++lane)
        if (part(lane)) cells[lane] = values[lane];
    });
    for (unsigned count = 1 + pick(3); count > 0; --count) exchange(part);
  }

  void exchange(const TakesPart& part) {
    const unsigned kind = pick(4), by = kind == 0 ? 1U << pick(5) : 1 + pick(31);
    const std::string other = fresh("%r"), p = fresh("%p");
    switch (kind) {
      case 0:
        line("xor.b32 " + other + ", %lane, " + number(by));
        break;
      case 1:
        line("setp.ge.u32 " + p + ", %lane, " + number(by));
        line("sub.u32 " + other + ", %lane, " + number(by));
        line("selp.u32 " + other + ", " + other + ", %lane, " + p);
        break;
      case 2:
        line("add.u32 " + other + ", %lane, " + number(by));  // the cell above the last lane's is nobody's
        break;
      default:
        line("add.u32 " + other + ", %lane, " + number(by));
        line(names_no_lanes_ ? "rem.u32 " + other + ", " + other + ", %width"
                             : "and.b32 " + other + ", " + other + ", 31");
    }
    before_loads();
    const std::string got = load(other);
    line("mad.lo.u32 %v, %v, 3, " + got);
    store("%lane", "%v");
    for_each_warp([&](std::uint32_t* values, std::uint32_t lanes, std::uint32_t* cells) {
      Words read(32);
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint32_t from = kind == 0   ? lane ^ by
                                   : kind == 1 ? (lane >= by ? lane - by : lane)
                                   : kind == 2 ? lane + by
                                               : (lane + by) % (names_no_lanes_ ? threads_ : 32);
        read[lane] = cells[from];
      }
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        if (!part(lane)) continue;
        values[lane] = values[lane] * 3 + read[lane];
        cells[lane] = values[lane];
      }
    });
  }

  /// Each lane stores, or loads what another one stored before; then some store where others did. Votes keep all that
  /// from what comes before and after.
  void overwrite() {
    const bool loads_first = order_ == Order::LoadThenStore;
    const unsigned kind = pick(3), by = 1 + pick(31), next = 1 + pick(31);
    const std::uint32_t bits = kind == 2 ? 7 : pick(32), wanted = bits & pick(32);
    const std::string place = fresh("%r"), p = fresh("%p"), masked = fresh("%r"), skip = fresh("L");
    const std::string other = fresh("%r"), value = fresh("%r");
    line("add.u32 " + other + ", %lane, " + number(next));
    line("and.b32 " + other + ", " + other + ", 31");
    if (loads_first) {
      const std::string got = load(other);
      line("mad.lo.u32 %v, %v, 3, " + got);
    } else {
      store("%lane", "%v");
    }
    line("and.b32 " + masked + ", %lane, " + number(bits));
    line("setp.ne.u32 " + p + ", " + masked + ", " + number(wanted));
    line("@" + p + " bra " + skip);
    if (kind == 0) line("xor.b32 " + place + ", %lane, " + number(by));
    if (kind == 1) line("add.u32 " + place + ", %lane, " + number(by));
    if (kind == 2) {  // one lane of eight
      line("and.b32 " + place + ", %lane, -8");
      line("add.u32 " + place + ", " + place + ", " + number(by));
    }
    line("mad.lo.u32 " + value + ", %v, 7, 1");
    store(place, value);
    text_ += skip + ":\n";
    for_each_warp([&](std::uint32_t* values, std::uint32_t lanes, std::uint32_t* cells) {
      const Words before(cells, cells + exchange_cells);
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        if (loads_first) values[lane] = values[lane] * 3 + before[(lane + next) & 31];
        if (!loads_first) cells[lane] = values[lane];
      }
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        if ((lane & bits) != wanted) continue;
        cells[kind == 0 ? lane ^ by : (kind == 1 ? lane : lane & ~7U) + by] = values[lane] * 7 + 1;
      }
    });
    vote();
    if (loads_first) return;
    const std::string got = load(other);
    line("mad.lo.u32 %v, %v, 3, " + got);
    for_each_warp([&](std::uint32_t* values, std::uint32_t lanes, const std::uint32_t* cells) {
      for (std::uint32_t lane = 0; lane < lanes; ++lane) values[lane] = values[lane] * 3 + cells[(lane + next) & 31];
    });
    vote();
  }

  /// All threads of the block load one cell, then one of them stores to it what all load the next time: a ticket, or a
  /// flag. Barriers keep that from what comes before and after, but none stands between the loads and the store. Where
  /// it is a ticket, the cell says itself how often that is.
  void give_anew() {
    const unsigned times = 1 + pick(3), cell = pick(exchange_cells);
    const std::uint32_t giver = pick(2) == 0 ? 0 : pick(threads_);
    const std::string at = "[block+" + number(cell * 4) + "]";
    line("bar.sync 0");
    if (pick(2) == 0) return draw_tickets(at, cell, giver, 2 + pick(6));
    for (unsigned time = 0; time < times; ++time) {
      const std::string got = fresh("%r"), value = fresh("%r");
      line("ld.shared.u32 " + got + ", " + at);
      line("mad.lo.u32 %v, %v, 3, " + got);
      line("mad.lo.u32 " + value + ", %v, 7, 1");
      give(at, giver, value);
      for_each_block(cell, [&](std::uint32_t* values, std::uint32_t& given) {
        for (std::uint32_t thread = 0; thread < threads_; ++thread) values[thread] = values[thread] * 3 + given;
        given = values[giver] * 7 + 1;
      });
    }
  }

  /// Each thread takes in what another one of the block left, and leaves its own, with one barrier a round: warps come
  /// from it together, and all have loaded before any stores. The block's cells are one row here.
  void pass_on() {
    const unsigned rounds = 1 + pick(4), by = 1 + pick(60);
    const bool from_below = pick(2) == 0;
    const std::string left = fresh("%r"), head = fresh("L"), p = fresh("%p"), q = fresh("%p");
    const std::string other = fresh("%r"), from = fresh("%r"), to = fresh("%r"), got = fresh("%r"), base = fresh("%r");
    line("bar.sync 0");
    line("mov.u32 " + base + ", block");
    line("mov.u32 " + left + ", " + number(rounds));
    text_ += head + ":\n";
    line("setp.ge.u32 " + p + ", %t, " + number(by));
    line((from_below ? "sub.u32 " : "add.u32 ") + other + ", %t, " + number(by));
    if (from_below) line("selp.u32 " + other + ", " + other + ", %t, " + p);
    line("mad.lo.u32 " + from + ", " + other + ", 4, " + base);
    line("mad.lo.u32 " + to + ", %t, 4, " + base);
    line("ld.shared.u32 " + got + ", [" + from + "]");
    line("mad.lo.u32 %v, %v, 3, " + got);
    line("st.shared.u32 [" + to + "], %v");
    line("bar.sync 0");
    line("sub.u32 " + left + ", " + left + ", 1");
    line("setp.ne.u32 " + q + ", " + left + ", 0");
    line("@" + q + " bra " + head);
    for (std::uint32_t block = 0; block < blocks; ++block) {
      std::uint32_t* const values = &values_[std::size_t{block} * threads_];
      std::uint32_t* const cells = &cells_[std::size_t{block} * warps_ * exchange_cells];
      for (unsigned round = 0; round < rounds; ++round) {
        for (std::uint32_t thread = 0; thread < threads_; ++thread)
          values[thread] = values[thread] * 3 + cells[!from_below ? thread + by : thread >= by ? thread - by : thread];
        std::copy_n(values, threads_, cells);
      }
    }
  }

  /// All warps go through rows of cells, one for each, and then write to their own, with nothing between.
  void go_through_rows() {
    const std::string head = fresh("L"), p = fresh("%p"), at = fresh("%r"), row = fresh("%r"), got = fresh("%r");
    const std::string left = fresh("%r"), base = fresh("%r"), number_of_warp = fresh("%r");
    line("bar.sync 0");
    line("mov.u32 " + base + ", block");
    line("mad.lo.u32 " + base + ", %lane, 4, " + base);
    line("mov.u32 " + at + ", " + base);
    line("mov.u32 " + left + ", " + number(warps_));
    text_ += head + ":\n";
    line("ld.shared.u32 " + got + ", [" + at + "]");
    line("mad.lo.u32 %v, %v, 3, " + got);
    line("add.u32 " + at + ", " + at + ", 128");
    line("sub.u32 " + left + ", " + left + ", 1");
    line("setp.ne.u32 " + p + ", " + left + ", 0");
    line("@" + p + " bra " + head);
    line("shr.u32 " + number_of_warp + ", %t, 5");
    line("mad.lo.u32 " + row + ", " + number_of_warp + ", 128, " + base);
    line("st.shared.u32 [" + row + "], %v");
    line("bar.sync 0");
    for (std::uint32_t block = 0; block < blocks; ++block) {
      std::uint32_t* const values = &values_[std::size_t{block} * threads_];
      std::uint32_t* const cells = &cells_[std::size_t{block} * warps_ * exchange_cells];
      for (std::uint32_t thread = 0; thread < threads_; ++thread)
        for (std::uint32_t warp = 0; warp < warps_; ++warp)
          values[thread] = values[thread] * 3 + cells[warp * 32 + thread % 32];
      std::copy_n(values, threads_, cells);
    }
  }

  /// All rows of the block do the same to the same cells with nothing between, as if they were one.
  void repeat() {
    const std::string at = fresh(is_shared_ ? "%r" : "%d"), got = fresh("%r"), left = fresh("%r"), row = fresh("%r");
    const std::string x = fresh("%r"), cell = (is_shared_ ? "shared.u32 " : "global.u32 ");
    line("bar.sync 0");
    line("mov.u32 " + x + ", %tid.x");
    if (is_shared_) {
      line("mov.u32 " + row + ", block");
      line("mad.lo.u32 " + at + ", " + x + ", 4, " + row);
    } else {
      line("ld.param.u64 " + at + ", [cells]");
      line("cvta.to.global.u64 " + at + ", " + at);
      line("mad.lo.u32 " + row + ", %b, " + number(std::uint64_t{warps_} * exchange_cells) + ", " + x);
      line("mad.wide.u32 " + at + ", " + row + ", 4, " + at);
    }
    line("ld." + cell + got + ", [" + at + "]");
    line("mad.lo.u32 %v, %v, 3, " + got);
    line("mad.lo.u32 " + left + ", " + got + ", 5, 1");
    line("st." + cell + "[" + at + "], " + left);
    line("bar.sync 0");
    const std::uint32_t width = threads_ / rows_;
    for (std::uint32_t block = 0; block < blocks; ++block) {
      std::uint32_t* const cells = &cells_[std::size_t{block} * warps_ * exchange_cells];
      for (std::uint32_t thread = 0; thread < threads_; ++thread) {
        std::uint32_t& value = values_[std::size_t{block} * threads_ + thread];
        value = value * 3 + cells[thread % width];
      }
      for (std::uint32_t column = 0; column < width; ++column) cells[column] = cells[column] * 5 + 1;
    }
  }

  void draw_tickets(const std::string& at, unsigned cell, std::uint32_t giver, unsigned tickets) {
    const std::string head = fresh("L"), drawn = fresh("%r"), next = fresh("%r"), p = fresh("%p");
    give(at, giver, "0");
    text_ += head + ":\n";
    line("ld.shared.u32 " + drawn + ", " + at);
    line("mad.lo.u32 %v, %v, 3, " + drawn);
    line("add.u32 " + next + ", " + drawn + ", 1");
    give(at, giver, next);
    line("ld.shared.u32 " + drawn + ", " + at);
    line("setp.lt.u32 " + p + ", " + drawn + ", " + number(tickets));
    line("@" + p + " bra " + head);
    line("bar.sync 0");
    for_each_block(cell, [&](std::uint32_t* values, std::uint32_t& given) {
      for (given = 0; given < tickets; ++given)
        for (std::uint32_t thread = 0; thread < threads_; ++thread) values[thread] = values[thread] * 3 + given;
    });
  }

  void give(const std::string& at, std::uint32_t giver, const std::string& value) {
    const std::string p = fresh("%p"), skip = fresh("L");
    line("setp.ne.u32 " + p + ", %t, " + number(giver));
    line("@" + p + " bra " + skip);
    line("st.shared.u32 " + at + ", " + value);
    text_ += skip + ":\n";
    line("bar.sync 0");
  }

  template <typename Do>
  void for_each_block(unsigned cell, const Do& work) {
    for (std::uint32_t block = 0; block < blocks; ++block)
      work(&values_[std::size_t{block} * threads_], cells_[std::size_t{block} * warps_ * exchange_cells + cell]);
  }

  void vote() {
    const std::string p = fresh("%p"), bit = fresh("%r"), ballot = fresh("%r");
    line("and.b32 " + bit + ", %v, 4");
    line("setp.ne.u32 " + p + ", " + bit + ", 0");
    line("vote.sync.ballot.b32 " + ballot + ", " + p + ", 0xffffffff");
    line("add.u32 %v, %v, " + ballot);
    for_each_warp([&](std::uint32_t* values, std::uint32_t lanes, std::uint32_t*) {
      std::uint32_t votes = 0;
      for (std::uint32_t lane = 0; lane < lanes; ++lane) votes |= (values[lane] >> 2 & 1) << lane;
      for (std::uint32_t lane = 0; lane < lanes; ++lane) values[lane] += votes;
    });
  }

  /// All lanes load what one of them left, each leaves its own, and then it is the next one's turn.
  void one_for_all() {
    const std::uint32_t first = pick(8), end = first + 1 + pick(12);
    const std::string from = fresh("%r"), head = fresh("L"), p = fresh("%p");
    line("mov.u32 " + from + ", " + number(first));
    text_ += head + ":\n";
    before_loads();
    const std::string got = load(from);
    line("mad.lo.u32 %v, %v, 7, " + got);
    store("%lane", "%v");
    line("add.u32 " + from + ", " + from + ", 1");
    line("setp.lt.u32 " + p + ", " + from + ", " + number(end));
    line("@" + p + " bra " + head);
    for_each_warp([&](std::uint32_t* values, std::uint32_t lanes, std::uint32_t* cells) {
      for (std::uint32_t cell = first; cell < end; ++cell) {
        const std::uint32_t read = cells[cell];
        for (std::uint32_t lane = 0; lane < lanes; ++lane) cells[lane] = values[lane] = values[lane] * 7 + read;
      }
    });
  }

  /// A loop of as many rounds for all lanes, whose distance is halved: a sum, or a scan where it is doubled.
  void halving() {
    const bool doubles = pick(2) != 0;
    const std::string by = fresh("%r"), head = fresh("L"), p = fresh("%p"), other = fresh("%r");
    store("%lane", "%v");
    line("mov.u32 " + by + (doubles ? ", 1" : ", 16"));
    text_ += head + ":\n";
    line("xor.b32 " + other + ", %lane, " + by);
    before_loads();
    const std::string got = load(other);
    line("mad.lo.u32 %v, %v, 5, " + got);
    store("%lane", "%v");
    line(std::string(doubles ? "shl" : "shr") + (doubles ? ".b32 " : ".u32 ") + by + ", " + by + ", 1");
    line("and.b32 " + by + ", " + by + ", 31");
    line("setp.ne.u32 " + p + ", " + by + ", 0");
    line("@" + p + " bra " + head);
    for_each_warp([&](std::uint32_t* values, std::uint32_t lanes, std::uint32_t* cells) {
      std::copy_n(values, lanes, cells);
      for (std::uint32_t distance = doubles ? 1 : 16; distance != 0;
           distance = (doubles ? distance * 2 : distance / 2) & 31) {
        Words read(32);
        for (std::uint32_t lane = 0; lane < lanes; ++lane) read[lane] = cells[lane ^ distance];
        for (std::uint32_t lane = 0; lane < lanes; ++lane) cells[lane] = values[lane] = values[lane] * 5 + read[lane];
      }
    });
  }

  /// A sorting network over some of the warp's cells, of which some lanes compare more pairs than others.
  void network() {
    static constexpr std::uint32_t lengths[] = {16, 32, 64, 96, 128};
    const std::uint32_t pairs = lengths[pick(std::size(lengths))] / 2;
    const std::string s = fresh("%r"), w = fresh("%r"), j = fresh("%r"), mask = fresh("%r"), n = fresh("%r");
    const std::string outer = fresh("L"), middle = fresh("L"), inner = fresh("L"), kept = fresh("L"), end = fresh("L");
    const std::string p = fresh("%p"), q = fresh("%p"), up = fresh("%p"), swaps = fresh("%p"), upper = fresh("%r");
    const std::string bits = fresh("%r");
    line("mov.u32 " + s + ", 2");
    text_ += outer + ":\n";
    line("shr.u32 " + w + ", " + s + ", 1");
    text_ += middle + ":\n";
    line("mov.u32 " + j + ", %lane");
    line("setp.ge.u32 " + p + ", " + j + ", " + number(pairs));
    line("@" + p + " bra " + end);
    text_ += inner + ":\n";
    line("neg.s32 " + mask + ", " + w);
    line("and.b32 " + mask + ", " + j + ", " + mask);
    line("add.u32 " + n + ", " + j + ", " + mask);
    line("add.u32 " + upper + ", " + n + ", " + w);
    const std::string low = cell_at(n), high = cell_at(upper), a = fresh("%r"), b = fresh("%r");
    line("ld." + space() + ".u32 " + a + ", " + low);
    line("ld." + space() + ".u32 " + b + ", " + high);
    line("and.b32 " + bits + ", " + n + ", " + s);
    line("setp.eq.u32 " + up + ", " + bits + ", 0");
    line("setp.gt.u32 " + swaps + ", " + a + ", " + b);
    line("xor.pred " + swaps + ", " + swaps + ", " + up);
    line("@" + swaps + " bra " + kept);
    line("st." + space() + ".u32 " + low + ", " + b);
    line("st." + space() + ".u32 " + high + ", " + a);
    text_ += kept + ":\n";
    line("add.u32 " + j + ", " + j + ", 32");
    line("setp.lt.u32 " + q + ", " + j + ", " + number(pairs));
    line("@" + q + " bra " + inner);
    text_ += end + ":\n";
    join();
    line("shr.u32 " + w + ", " + w + ", 1");
    line("setp.ne.u32 " + p + ", " + w + ", 0");
    line("@" + p + " bra " + middle);
    line("shl.b32 " + s + ", " + s + ", 1");
    line("setp.le.u32 " + p + ", " + s + ", " + number(std::bit_floor(2 * pairs)));
    line("@" + p + " bra " + outer);
    const std::string got = load("%lane");
    line("add.u32 %v, %v, " + got);
    for_each_warp([&](std::uint32_t* values, std::uint32_t lanes, std::uint32_t* cells) {
      for (std::uint32_t size = 2; size <= std::bit_floor(2 * pairs); size *= 2) {
        for (std::uint32_t distance = size / 2; distance != 0; distance /= 2) {
          for (std::uint32_t first = 0; first < pairs; first += 32) compare(cells, first, lanes, pairs, size, distance);
        }
      }
      for (std::uint32_t lane = 0; lane < lanes; ++lane) values[lane] += cells[lane];
    });
  }

  /// The pairs that a warp's lanes compare at once: no two of them meet.
  static void compare(std::uint32_t* cells, std::uint32_t first, std::uint32_t lanes, std::uint32_t pairs,
                      std::uint32_t size, std::uint32_t distance) {
    for (std::uint32_t pair = first; pair < std::min(first + lanes, pairs); ++pair) {
      const std::uint32_t place = pair + (pair & (0 - distance));
      if (place + distance >= exchange_cells) continue;
      std::uint32_t& low = cells[place];
      std::uint32_t& high = cells[place + distance];
      if ((low > high) == ((place & size) == 0)) std::swap(low, high);
    }
  }

  /// Exchanges of the lanes that go this way, while the others wait for them.
  void some_lanes() {
    const std::uint32_t bits = 1 + pick(31), wanted = bits & pick(32);
    const std::string p = fresh("%p"), masked = fresh("%r"), skip = fresh("L");
    line("and.b32 " + masked + ", %lane, " + number(bits));
    line("setp.ne.u32 " + p + ", " + masked + ", " + number(wanted));
    line("@" + p + " bra " + skip);
    exchanges([=](std::uint32_t lane) { return (lane & bits) == wanted; });
    text_ += skip + ":\n";
    join();
    if (pick(2) != 0) vote();
    exchanges([](std::uint32_t) { return true; });
  }

  /// The same exchanges again, in a loop.
  void again() {
    const std::string left = fresh("%r"), head = fresh("L"), p = fresh("%p");
    const unsigned rounds = 2 + pick(3);
    line("mov.u32 " + left + ", " + number(rounds));
    text_ += head + ":\n";
    const std::mt19937 choices = random_;
    const std::string before = text_;
    const unsigned numbers = numbers_;
    for (unsigned round = 0; round < rounds; ++round) {  // of the text one round is kept, of the model all
      random_ = choices;
      text_ = before;
      numbers_ = numbers;
      step(1);
      step(1);
    }
    line("sub.u32 " + left + ", " + left + ", 1");
    line("setp.ne.u32 " + p + ", " + left + ", 0");
    line("@" + p + " bra " + head);
  }

  std::mt19937 random_;
  std::uint32_t threads_ = 0, rows_ = 1, warps_ = 0;
  bool is_shared_ = false, joins_by_barrier_ = false, counts_on_joins_ = false, is_volatile_ = false;
  bool overwrites_only_ = false;
  bool names_no_lanes_ = false;  ///< that a block is one warp is all that tells of lanes; they turn within its width
  Order order_ = Order::StoreThenLoad;
  std::string text_;
  unsigned numbers_ = 0;
  Words values_, cells_;  ///< the model: of all threads, and of all warps of all blocks
};

}  // namespace

ExchangeProgram exchange_program(std::uint32_t seed) { return ExchangeWriter(seed).make(); }

}  // namespace cucore::cpu
