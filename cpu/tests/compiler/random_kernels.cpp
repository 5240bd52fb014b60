// Makes random kernels: see random_kernels.hpp.
#include "cpu/tests/compiler/random_kernels.hpp"

#include <array>
#include <cstdlib>
#include <iterator>
#include <random>
#include <vector>

namespace cucore::cpu {

namespace {

constexpr Extent blocks[] = {{32, 1, 1},  {33, 1, 1}, {64, 1, 1}, {100, 1, 1}, {256, 1, 1}, {300, 1, 1},
                             {16, 16, 1}, {8, 8, 1},  {4, 8, 1},  {33, 3, 1},  {5, 7, 1},   {8, 4, 4},
                             {32, 4, 1},  {1, 1, 1},  {7, 1, 1},  {512, 1, 1}, {12, 6, 1}};

std::uint32_t number_from(const char* variable, std::uint32_t usual) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : usual;
}

constexpr unsigned variables = 6;  ///< %v0.. : what programs compute with

class KernelWriter {
 public:
  KernelWriter(std::uint32_t seed, RandomKind kind)
      : random_(seed), is_wild_(kind == RandomKind::Wild), searches_(kind == RandomKind::Searching) {}

  std::string kernel() {
    converges_ = pick(3) == 0;
    statements(searches_ ? 1 : 3 + pick(4), 0, false);
    if (searches_) search(0);
    if (converges_) convergent_operation();
    statements(2 + pick(3), 0, false);
    std::string text =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
        "  .reg .u32 %v<6>, %t<400>, %s<16>, %x, %lin, %n, %g;\n  .reg .u64 %in, %out, %a<400>;\n  .reg .pred "
        "%p<400>;\n"
        "  .shared .align 4 .b8 tile[4096];\n" +
        std::string(is_wild_
                        ? "  .local .align 4 .b8 box[32];\n  .reg .b32 %h<4>;\n  .reg .f32 %f<2>;\n  .reg .u64 %d0;\n"
                        : "") +
        "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  ld.param.u32 %n, [n];\n"
        "  mov.u32 %x, %tid.x;\n  mov.u32 %t0, %tid.y;\n  mov.u32 %t1, %ntid.x;\n  mov.u32 %t2, %tid.z;\n"
        "  mov.u32 %t3, %ntid.y;\n  mad.lo.u32 %t0, %t2, %t3, %t0;\n  mad.lo.u32 %lin, %t0, %t1, %x;\n"
        "  mul.lo.u32 %t1, %t1, %t3;\n  mov.u32 %t3, %ntid.z;\n  mul.lo.u32 %t1, %t1, %t3;\n"
        "  mov.u32 %t2, %ctaid.x;\n  mad.lo.u32 %g, %t1, %t2, %lin;\n"
        "  mul.wide.u32 %a0, %g, 32;\n  add.u64 %out, %out, %a0;\n"
        "  mov.u32 %v0, %g;\n  mov.u32 %v1, %x;\n  mov.u32 %v2, %ctaid.x;\n  mov.u32 %v3, 12345;\n"
        "  and.b32 %t4, %g, 1023;\n  mul.wide.u32 %a1, %t4, 4;\n  add.u64 %a1, %in, %a1;\n  ld.global.u32 %v4, [%a1];\n"
        "  mov.u32 %v5, %tid.y;\n";
    for (unsigned word = 0; is_wild_ && word < 8; ++word)
      text += "  st.local.u32 [box+" + std::to_string(4 * word) + "], " + (word % 2 != 0 ? "%lin" : "%n") + ";\n";
    if (is_wild_)
      text +=
          "  mov.b32 %h0, 0x3c003c00;\n  mov.b32 %h1, 0;\n  mov.b32 %h2, 0xbbffbbff;\n  mov.b32 %h3, 0x3c003c00;\n"
          "  cvt.rn.f32.u32 %f0, %v5;\n  cvt.rn.f32.u32 %f1, %v1;\n  cvt.u64.u32 %d0, %v0;\n";
    text += body_;
    for (unsigned v = 0; v < variables; ++v)
      text += "  st.global.u32 [%out+" + std::to_string(4 * v) + "], %v" + std::to_string(v) + ";\n";
    return text + "  ret;\n}\n";
  }

 private:
  unsigned pick(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random_); }
  std::string variable() { return "%v" + std::to_string(pick(variables)); }
  std::string temporary() { return "%t" + std::to_string(5 + temporaries_++ % 390); }
  std::string address() { return "%a" + std::to_string(2 + addresses_++ % 390); }
  std::string predicate() { return "%p" + std::to_string(predicates_++ % 400); }
  std::string label() { return "L" + std::to_string(labels_++); }
  void line(const std::string& text) { body_ += "  " + text + ";\n"; }

  std::string operand() {
    switch (pick(6)) {
      case 0:
        return std::to_string(pick(40));
      case 1:
        return "%x";
      case 2:
        return "%lin";
      case 3:
        return "%n";
      default:
        return variable();
    }
  }

  void statements(unsigned count, unsigned depth, bool in_loop) {
    for (unsigned n = 0; n < count; ++n) statement(depth, in_loop);
  }

  void statement(unsigned depth, bool in_loop) {
    if (is_wild_ && pick(5) == 0) return wild_statement();
    switch (pick(depth < 3 ? 12 : 7)) {
      case 0:
      case 1:
      case 2:
        return arithmetic("");
      case 3:
        return load();
      case 4:
        return store();
      case 5: {
        const std::string guard = condition();
        return arithmetic((pick(2) != 0 ? "@" : "@!") + guard + " ");
      }
      case 6:
        return wrapping_index();
      case 7:
      case 8:
      case 9:
        return branch(depth, in_loop);
      default:
        if (searches_ && pick(2) == 0) return search(depth);
        return is_wild_ && pick(3) == 0 ? indexed_branch(depth, in_loop) : loop(depth);
    }
  }

  /// What only wild kernels do in straight code.
  void wild_statement() {
    const std::string t = temporary(), a = address();
    switch (pick(9)) {
      case 0: {  // a place in the thread's own variable
        const std::string box = address();
        line("and.b32 " + t + ", " + operand() + ", 7");
        line("mul.wide.u32 " + a + ", " + t + ", 4");
        line("mov.u64 " + box + ", box");
        line("add.u64 " + a + ", " + a + ", " + box);
        return line(pick(2) != 0 ? "st.local.u32 [" + a + "], " + variable()
                                 : "ld.local.u32 " + variable() + ", [" + a + "]");
      }
      case 1:
        line("add.cc.u32 " + variable() + ", " + operand() + ", " + operand());
        return line("addc.u32 " + variable() + ", " + operand() + ", " + operand());
      case 2: {  // packed halves, which are small where they are added as floats
        const std::string h = pick(2) != 0 ? "%h0" : "%h1";
        if (pick(3) == 0) {
          line("and.b32 " + t + ", " + variable() + ", 0xbbffbbff");
          return line("mov.b32 " + h + ", " + t);
        }
        if (pick(3) == 0) return line("mov.b32 " + variable() + ", " + h);
        if (pick(2) != 0) return line((pick(2) != 0 ? "add.u16x2 " : "min.s16x2 ") + h + ", %h0, %h1");
        line("and.b32 " + h + ", " + h + ", %h2");
        return line("add.rn.f16x2 " + h + ", " + h + ", %h3");
      }
      case 3:  // backwards, or some lanes at one place
        line(pick(2) != 0 ? "sub.u32 " + t + ", 900, %lin" : "shr.u32 " + t + ", %lin, " + std::to_string(1 + pick(5)));
        line((pick(2) != 0 ? "mul.wide.u32 " : "mul.wide.s32 ") + a + ", " + t + ", 4");
        line("add.u64 " + a + ", " + a + ", %in");
        return line(pick(3) != 0 ? "ld.global.u32 " + variable() + ", [" + a + "]"
                                 : "ld.volatile.global.u32 " + variable() + ", [" + a + "]");
      case 4:  // what the bits of an index tell
        line(std::string(pick(2) != 0 ? "and.b32 " : "xor.b32 ") + t + ", " + (pick(2) != 0 ? "%x" : "%lin") + ", " +
             std::to_string((1U << (1 + pick(6))) - 1));
        line("add.u32 " + t + ", " + t + ", " + std::to_string(pick(3)));
        return line("mov.u32 " + variable() + ", " + t);
      case 5:
        return line("atom.global." + std::string(pick(2) != 0 ? "add.u32 " : "exch.b32 ") +
                    (pick(2) != 0 ? variable() : t) + ", [%out+" + std::to_string(24 + 4 * pick(2)) + "], " +
                    variable());
      case 6:  // floats, halves of which are added up
        if (pick(3) == 0) return line("mov.b32 " + variable() + ", %f0");
        if (pick(3) == 0) return line("cvt.rn.f32.u32 %f1, " + operand());
        return line("fma.rn.f32 %f0, %f0, 0f3f000000, %f1");
      case 7:
        if (pick(3) == 0) return line("cvt.u32.u64 " + variable() + ", %d0");
        if (pick(3) == 0) return line("cvt.s64.s32 %d0, " + operand());
        return line("mad.wide.u32 %d0, " + operand() + ", " + operand() + ", %d0");
      default:
        return line("ld.volatile.global.u32 " + variable() + ", [%out+" + std::to_string(24 + 4 * pick(2)) + "]");
    }
  }

  void indexed_branch(unsigned depth, bool in_loop) {
    const std::string t = temporary(), end = label(), list = "list" + end;
    const unsigned count = 2 + pick(3);
    std::vector<std::string> labels;
    std::string names;
    for (unsigned n = 0; n < count; ++n) {
      labels.push_back(label());
      names += (n != 0 ? ", " : "") + labels.back();
    }
    line("rem.u32 " + t + ", " + operand() + ", " + std::to_string(count));
    body_ += list + ": .branchtargets " + names + ";\n";
    line("brx.idx " + t + ", " + list);
    for (unsigned n = 0; n < count; ++n) {
      body_ += labels[n] + ":\n";
      if (pick(4) != 0) statements(1 + pick(2), depth + 1, in_loop);
      if (n + 1 < count && pick(3) != 0)
        line("bra " + (in_loop && pick(4) == 0 ? breaks_[pick(static_cast<unsigned>(breaks_.size()))] : end));
    }
    body_ += end + ":\n";
  }

  void arithmetic(const std::string& guard) {
    static constexpr std::array<const char*, 10> operations{"add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "and.b32",
                                                            "or.b32",  "min.u32", "max.s32",    "div.u32", "rem.s32"};
    if (pick(8) == 0)
      return line(guard + (pick(2) != 0 ? "shl.b32 " : "shr.u32 ") + variable() + ", " + variable() + ", " +
                  std::to_string(pick(34)));
    line(guard + operations[pick(operations.size())] + " " + variable() + ", " + operand() + ", " + operand());
  }

  std::string condition() {
    static constexpr std::array<const char*, 5> comparisons{"setp.lt.u32", "setp.gt.s32", "setp.eq.u32", "setp.ne.u32",
                                                            "setp.ge.u32"};
    const std::string p = predicate();
    std::string a = variable();
    if (pick(2) != 0) {  // a few low bits, so that lanes disagree
      const std::string t = temporary();
      line("and.b32 " + t + ", " + a + ", " + std::to_string(1 + pick(7)));
      a = t;
    } else if (pick(3) == 0) {
      a = "%n";  // the same everywhere
    }
    line(std::string(comparisons[pick(comparisons.size())]) + " " + p + ", " + a + ", " +
         (pick(2) != 0 ? std::to_string(pick(64)) : operand()));
    return p;
  }

  /// By the number of the thread, so that lanes disagree.
  std::string dividing_condition() {
    const std::string t = temporary(), p = predicate();
    const unsigned bits = 1 + pick(15);
    line("add.u32 " + t + ", %lin, " + operand());
    line("and.b32 " + t + ", " + t + ", " + std::to_string(bits));
    line("setp.lt.u32 " + p + ", " + t + ", " + std::to_string(1 + pick(bits)));
    return p;
  }

  void load() {
    const std::string t = temporary();
    const std::string a = address();
    const unsigned step = 1 + pick(4);
    switch (pick(5)) {
      case 0:  // neighbours, or a constant step apart
        line("mad.lo.u32 " + t + ", %lin, " + std::to_string(step) + ", " + std::to_string(pick(9)));
        break;
      case 1:  // the same for all
        line("add.u32 " + t + ", %n, " + std::to_string(pick(9)));
        break;
      case 2:  // of a row or a column of elements
        line((pick(2) != 0 ? "div.u32 " : "rem.u32 ") + t + ", %lin, " +
             (pick(3) != 0 ? std::to_string(1 + pick(70)) : variable()));
        break;
      default:
        line("mov.u32 " + t + ", " + variable());
    }
    line("and.b32 " + t + ", " + t + ", 1023");
    line((pick(2) != 0 ? "mul.wide.u32 " : "mul.wide.s32 ") + a + ", " + t + ", 4");
    line("add.u64 " + a + ", " + a + ", %in");
    if (pick(3) != 0) return line("ld.global.u32 " + variable() + ", [" + a + "]");
    const unsigned words = pick(2);  // two neighbours, in either order
    line("ld.global.u32 " + variable() + ", [" + a + "+" + std::to_string(4 * words) + "]");
    line("ld.global.u32 " + variable() + ", [" + a + "+" + std::to_string(4 - 4 * words) + "]");
  }

  void store() {
    if (pick(3) == 0) return line("st.global.v2.u32 [%out+24], {" + variable() + ", " + variable() + "}");
    line("st.global.u32 [%out+" + std::to_string(24 + 4 * pick(2)) + "], " + variable());
  }

  /// An index that wraps around inside a chunk, used where it is in range only.
  void wrapping_index() {
    const std::string t = temporary(), p = predicate(), a = address();
    line("sub.u32 " + t + ", %lin, " + std::to_string(1 + pick(40)));
    line("setp.lt.u32 " + p + ", " + t + ", 1024");
    line("mul.wide.u32 " + a + ", " + t + ", 4");
    line("add.u64 " + a + ", " + a + ", %in");
    line("@" + p + " ld.global.u32 " + variable() + ", [" + a + "]");
  }

  void branch(unsigned depth, bool in_loop) {
    const std::string otherwise = label(), end = label();
    const std::string p = condition();
    line((pick(2) != 0 ? "@" : "@!") + p + " bra " + otherwise);
    statements(1 + pick(3), depth + 1, in_loop);
    switch (pick(in_loop ? 5 : 7)) {
      case 0:
        if (in_loop) line("bra " + (is_wild_ ? way_out() : breaks_.back()));
        break;
      case 1:
        if ((!in_loop || is_wild_) && !converges_) {
          line("st.global.u32 [%out+28], " + variable());
          line("ret");
        }
        break;
      default:
        break;
    }
    line("bra " + end);
    body_ += otherwise + ":\n";
    if (pick(2) != 0) statements(1 + pick(3), depth + 1, in_loop);
    body_ += end + ":\n";
  }

  /// Out of a loop, perhaps several, or on to its next iteration.
  std::string way_out() {
    const auto loop = pick(static_cast<unsigned>(breaks_.size()));
    return pick(3) == 0 ? iterations_[loop] : breaks_[loop];
  }

  void loop(unsigned depth) {
    const std::string head = label(), leave = label(), next = label();
    const std::string counter = "%t" + std::to_string(395 + depth);
    const std::string p = predicate();
    const bool converges =
        is_wild_ && converges_ && depth == 0 && pick(3) == 0;  // in each iteration, so all lanes have as many
    if (!converges && pick(2) != 0) {
      line("and.b32 " + counter + ", " + variable() + ", " + std::to_string(1 + 2 * pick(3)));
    } else {
      line("mov.u32 " + counter + ", " + std::to_string(1 + pick(4)));
    }
    if (!converges) {
      breaks_.push_back(leave);
      iterations_.push_back(next);
    }
    body_ += head + ":\n";
    statements(1 + pick(3), depth + 1, !converges);
    body_ += next + ":\n";
    line("add.u32 %v" + std::to_string(pick(variables)) + ", " + counter + ", " + operand());
    if (converges) convergent_operation();
    line("setp.eq.u32 " + p + ", " + counter + ", 0");
    line("@" + p + " bra " + leave);
    line("sub.u32 " + counter + ", " + counter + ", 1");
    line("bra " + head);
    body_ += leave + ":\n";
    if (converges) return;
    breaks_.pop_back();
    iterations_.pop_back();
  }

  /// A search between two ends, as in a table of ranges. While a lane has fuel, it may go on to its next iteration
  /// without a look at whether it is done; without, it leaves. What is the same for all lanes of an iteration ends up
  /// different by the way and by the iteration in which they leave.
  void search(unsigned depth) {
    const auto own = [depth](unsigned n) { return "%s" + std::to_string(4 * depth + n); };
    const std::string low = own(0), high = own(1), fuel = own(2), middle = own(3);
    const std::string head = label(), higher = label(), next = label(), leave = label();
    line("mov.u32 " + low + ", " + std::to_string(pick(3)));
    line(pick(3) == 0 ? "and.b32 " + high + ", " + variable() + ", 31" : "mov.u32 " + high + ", %n");
    line("mov.u32 " + fuel + ", " + std::to_string(2 + pick(6)));
    body_ += head + ":\n";
    line("sub.u32 " + fuel + ", " + fuel + ", 1");
    line("add.u32 " + middle + ", " + low + ", " + high);
    line("shr.u32 " + middle + ", " + middle + ", 1");
    if (pick(3) == 0) statement(depth + 1, false);
    const std::string goes_on = dividing_condition(), is_done = pick(2) != 0 ? dividing_condition() : condition();
    line("setp.ne.and.u32 " + goes_on + ", " + fuel + ", 0, " + goes_on);
    line("@" + goes_on + " bra " + higher);
    if (pick(3) == 0) statement(depth + 1, false);
    line("setp.eq.or.u32 " + is_done + ", " + fuel + ", 0, " + is_done);
    line("@" + is_done + " bra " + leave);
    if (pick(2) != 0) line("mov.u32 " + variable() + ", " + (pick(2) != 0 ? middle : std::to_string(pick(40))));
    line("sub.u32 " + high + ", " + middle + ", 1");  // below zero at times
    line("bra " + next);
    body_ += higher + ":\n";
    line("add.u32 " + low + ", " + middle + ", 1");
    body_ += next + ":\n";
    if (pick(2) != 0) {
      const std::string p = predicate();
      line("setp.lt.u32 " + p + ", " + high + ", " + low);
      line("@" + p + " bra " + leave);
    }
    line("bra " + head);
    body_ += leave + ":\n";
    line("xor.b32 " + variable() + ", " + middle + ", " + own(pick(3)));
    if (pick(3) != 0) common_iterations(low);
  }

  /// A loop of as many iterations for all lanes.
  void common_iterations(const std::string& counter) {
    const std::string head = label(), p = predicate();
    line("and.b32 " + counter + ", %n, " + std::to_string(pick(8)));
    body_ += head + ":\n";
    for (unsigned n = 1 + pick(2); n > 0; --n) pick(2) != 0 ? arithmetic("") : load();
    if (pick(2) != 0) store();
    line("setp.eq.u32 " + p + ", " + counter + ", 0");
    line("sub.u32 " + counter + ", " + counter + ", 1");
    line("@!" + p + " bra " + head);
  }

  /// Exchanges values between the lanes of a warp or through shared memory.
  void convergent_operation() {
    const std::string t = temporary(), u = temporary(), p = predicate();
    switch (pick(6)) {
      case 0:
        line("shl.b32 " + t + ", %lin, 2");
        line("mov.u32 " + u + ", tile");
        line("add.u32 " + t + ", " + t + ", " + u);
        line("st.shared.u32 [" + t + "], " + variable());
        line("bar.sync 0");
        line("xor.b32 " + t + ", " + t + ", " + std::to_string(4 * pick(2)));
        line("ld.shared.u32 " + variable() + ", [" + u + "+" + std::to_string(4 * pick(4)) + "]");
        line("bar.sync 0");
        break;
      case 1: {
        static constexpr std::array<const char*, 4> modes{"bfly", "down", "up", "idx"};
        const unsigned mode = pick(4);
        const std::string lane = pick(3) == 0 ? variable() : std::to_string(pick(32));
        line(std::string("shfl.sync.") + modes[mode] + ".b32 " + variable() + "|" + p + ", " + variable() + ", " +
             lane + ", " + (mode == 2 ? "0" : "31") + ", 0xffffffff");
        line("@" + p + " add.u32 " + variable() + ", " + variable() + ", 1");
        break;
      }
      case 2:
      case 3:
        exchange_in_step(pick(2) != 0);
        break;
      case 4:
        line("vote.sync.ballot.b32 " + variable() + ", " + condition() + ", 0xffffffff");
        break;
      default: {  // by whole warps only
        const std::string skip = label();
        line("setp.ge.u32 " + p + ", %lin, " + std::to_string(32 * (1 + pick(3))));
        line("@" + p + " bra " + skip);
        line("shfl.sync.bfly.b32 " + variable() + ", " + variable() + ", " + std::to_string(1U << pick(5)) +
             ", 31, 0xffffffff");
        body_ += skip + ":\n";
      }
    }
    if (pick(2) != 0) {
      statements(1 + pick(2), 1, false);
      convergent_operation();
    }
  }

  /// Volatile accesses of shared memory between lanes of a warp that are converged: no barrier stands between them.
  /// `divides`: some lanes do one more.
  void exchange_in_step(bool divides) {
    const std::string t = temporary(), u = temporary();
    line("shl.b32 " + t + ", %lin, 2");
    line("mov.u32 " + u + ", tile");
    line("add.u32 " + t + ", " + t + ", " + u);
    line("st.volatile.shared.u32 [" + t + "], " + variable());
    for (unsigned step = 1 + pick(3); step > 0; --step) exchange(t);
    if (divides) {
      const std::string skip = label(), p = predicate(), low = temporary();
      line("and.b32 " + low + ", %lin, " + std::to_string(1 + pick(31)));
      line("setp.ne.u32 " + p + ", " + low + ", 0");
      line("@" + p + " bra " + skip);
      exchange(t);
      body_ += skip + ":\n";
    }
    exchange(t);
  }

  /// Takes in what another lane has at its place; the own one is at `mine`.
  void exchange(const std::string& mine) {
    const std::string other = temporary(), base = temporary(), got = temporary(), value = variable();
    line("mov.u32 " + base + ", tile");
    line("xor.b32 " + other + ", %lin, " + std::to_string(1U << pick(5)));
    line("shl.b32 " + other + ", " + other + ", 2");
    line("add.u32 " + other + ", " + other + ", " + base);
    line("ld.volatile.shared.u32 " + got + ", [" + other + "]");
    line("mad.lo.u32 " + value + ", " + got + ", " + std::to_string(1 + 2 * pick(4)) + ", " + value);
    line("st.volatile.shared.u32 [" + mine + "], " + value);
  }

  std::mt19937 random_;
  std::string body_;
  std::vector<std::string> breaks_;
  std::vector<std::string> iterations_;
  bool is_wild_;
  bool searches_;
  bool converges_ = false;
  unsigned temporaries_ = 0, addresses_ = 0, predicates_ = 0, labels_ = 0;
};

}  // namespace

const std::vector<std::uint32_t>& random_kernel_input() {
  static const std::vector<std::uint32_t> words = [] {
    std::vector<std::uint32_t> made(random_kernel_inputs + 64);
    std::uint32_t x = 1;
    for (std::uint32_t& word : made) word = x = x * 1664525 + 1013904223;
    return made;
  }();
  return words;
}

Extent random_kernel_block(std::uint32_t number) { return blocks[number % std::size(blocks)]; }

RandomKernels random_kernels_to_run(std::uint32_t first_usually) {
  return {number_from("CUCORE_RANDOM_FIRST", first_usually), number_from("CUCORE_RANDOM_KERNELS", 4)};
}

std::string random_kernel(std::uint32_t seed, RandomKind kind) { return KernelWriter(seed, kind).kernel(); }

}  // namespace cucore::cpu
