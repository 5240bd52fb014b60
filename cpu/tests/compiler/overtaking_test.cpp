// Lanes of a warp that poll apart: those that have seen what they waited for go on, and what they store may be what
// lanes of another warp wait for, or what keeps others of their own from waiting for ever. In the vector form they
// overtake those that still poll (cpu/compiler/vector/analysis/overtaking.hpp).
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "cpu/tests/compiler/random_kernels.hpp"
#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {

namespace {

using Words = std::vector<std::uint32_t>;

constexpr unsigned outputs = 4;

/// Kernels `k(u32* flags, u32* out)` whose threads wait for each other in a random order, across warps and within them,
/// in some stages with barriers between them. Threads leave a loop one by one, and what they do then up to the barrier
/// uses values of all kinds: the same for all, by thread, from memory, of loops and branches.
class OvertakingWriter {
 public:
  OvertakingWriter(std::uint32_t seed, unsigned threads) : random_(seed), threads_(threads) {}

  std::string kernel() {
    const unsigned stages = 1 + pick(3);
    for (unsigned n = 0; n < stages; ++n) stage(n);
    std::string text =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 flags, .param .u64 out)\n{\n"
        "  .reg .u32 %x, %k, %before, %seen, %sum, %mask, %n, %i, %t<4>, %v<4>;\n"
        "  .reg .u64 %flags, %out, %own, %at, %a<2>;\n  .reg .pred %p, %q, %goes, %waits;\n"
        "  ld.param.u64 %flags, [flags];\n  ld.param.u64 %out, [out];\n  mov.u32 %x, %tid.x;\n  mov.u32 %n, %ntid.x;\n"
        "  mov.u32 %v0, %x;\n  mov.u32 %v1, 7;\n  mul.lo.u32 %v2, %x, 5;\n  mov.u32 %v3, %n;\n" +
        body_ + "  mad.wide.u32 %out, %x, " + std::to_string(4 * outputs) + ", %out;\n";
    for (unsigned v = 0; v < outputs; ++v)
      text += "  st.global.u32 [%out+" + std::to_string(4 * v) + "], %v" + std::to_string(v) + ";\n";
    return text + "  ret;\n}\n";
  }

 private:
  unsigned pick(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random_); }
  void line(const std::string& text) { body_ += "  " + text + ";\n"; }
  std::string label() { return "L" + std::to_string(labels_++); }
  void place(const std::string& label) { body_ += label + ":\n"; }
  std::string value() { return "%v" + std::to_string(pick(outputs)); }

  /// The thread that is the `place`-th is factor * place + shift, of all threads.
  void thread_at(const std::string& thread, const std::string& place) {
    line("mad.lo.u32 " + thread + ", " + place + ", " + std::to_string(factor_) + ", " + std::to_string(shift_));
    line("rem.u32 " + thread + ", " + thread + ", " + std::to_string(threads_));
  }

  void stage(unsigned number) {
    do factor_ = 1 + pick(threads_);
    while (std::gcd(factor_, threads_) != 1);
    shift_ = pick(threads_);
    unsigned inverse = 1;
    while (inverse * factor_ % threads_ != 1 % threads_) ++inverse;
    line("add.u32 %k, %x, " + std::to_string(threads_ - shift_));
    line("mul.lo.u32 %k, %k, " + std::to_string(inverse));
    line("rem.u32 %k, %k, " + std::to_string(threads_));
    line("add.u64 %own, %flags, " + std::to_string(4 * threads_ * number));
    line("mov.u64 %at, %own");
    line("mad.wide.u32 %own, %x, 4, %own");
    // The first waits for nobody; some others need not.
    line("setp.ne.u32 %waits, %k, 0");
    if (pick(2) == 0) {
      line("and.b32 %t0, %k, " + std::to_string(1 + pick(31)));
      line("setp.ne.and.u32 %waits, %t0, 0, %waits");
    }
    pick(2) == 0 ? chain() : look_back();
    for (unsigned n = pick(4); n > 0; --n) passing();
    line("bar.sync 0");
    if (pick(2) == 0) line("add.u32 %v0, %v0, %sum");
  }

  /// Each waits for the one before it, and says what it has made of its word.
  void chain() {
    const std::string again = label(), end = label();
    line("mov.u32 %sum, 1");
    if (pick(2) == 0) line("add.u32 %v1, %v1, %n");
    line("@!%waits bra " + end);
    line("sub.u32 %before, %k, 1");
    thread_at("%before", "%before");
    line("mad.wide.u32 %a0, %before, 4, %at");
    line("mov.u32 %i, 0");
    place(again);
    if (pick(2) == 0) line("membar.cta");
    line("ld.volatile.global.u32 %seen, [%a0]");
    line("setp.eq.u32 %p, %seen, 0");
    line("@%p bra " + again);
    line("add.u32 %sum, %seen, 1");
    place(end);
    line("st.volatile.global.u32 [%own], %sum");
  }

  /// Each says its number, adds up from its own on those before it, up to one that has said the sum of all, and says
  /// its own sum. Lanes that go on looking name each other.
  void look_back() {
    const std::string back = label(), again = label();
    line("or.b32 %t0, %k, 0x40000000");
    line("setp.eq.u32 %p, %k, 0");
    line("selp.b32 %t0, 0x80000000, %t0, %p");
    line("st.volatile.global.u32 [%own], %t0");
    line("mov.u32 %mask, -1");
    line("mov.u32 %i, %k");
    line("mov.u32 %sum, 0");
    place(back);
    thread_at("%before", "%i");
    line("mad.wide.u32 %a0, %before, 4, %at");
    place(again);
    line("membar.cta");
    line("ld.volatile.global.u32 %seen, [%a0]");
    line("setp.eq.u32 %p, %seen, 0");
    line("@%p bra " + again);
    line("and.b32 %t0, %seen, 0x3fffffff");
    line("add.u32 %sum, %sum, %t0");
    line("setp.gt.s32 %goes, %seen, -1");
    line("vote.sync.ballot.b32 %mask, %goes, %mask");
    line("sub.u32 %i, %i, 1");
    line("@%goes bra " + back);
    if (pick(2) == 0) line("add.u32 %v2, %v2, 3");
    line("or.b32 %t0, %sum, 0x80000000");
    line("st.volatile.global.u32 [%own], %t0");
  }

  /// What lanes do before the barrier, each when it comes.
  void passing() {
    const std::string end = label(), head = label();
    switch (pick(6)) {
      case 0:
        return line("mad.lo.u32 " + value() + ", " + value() + ", 3, %sum");
      case 1:  // the same for all
        line("ld.global.u32 %t1, [%out]");
        return line("add.u32 " + value() + ", " + value() + ", %t1");
      case 2:
        line("and.b32 %t1, %x, " + std::to_string(1 + pick(15)));
        line("setp.eq.u32 %q, %t1, 0");
        line("@%q bra " + end);
        line("add.u32 " + value() + ", %x, 11");
        line("add.u32 " + value() + ", " + value() + ", %k");
        return place(end);
      case 3:
        line("mov.u32 %t1, 0");
        line("and.b32 %t2, %x, 3");
        place(head);
        line("mad.lo.u32 %v3, %v3, 5, %t1");
        line("add.u32 %t1, %t1, 1");
        line("setp.lt.u32 %q, %t1, " + (pick(2) == 0 ? std::string("3") : "%t2"));
        line("@%q bra " + head);
        return line("add.u32 " + value() + ", " + value() + ", %t1");
      case 4:
        line("setp.gt.u32 %q, %n, " + std::to_string(pick(200)));
        line("@%q bra " + end);
        line("add.u32 %v1, %v1, 1");
        return place(end);
      default:
        line("setp.lt.u32 %q, %x, " + std::to_string(pick(threads_)));
        return line("@%q add.u32 " + value() + ", " + value() + ", %n");
    }
  }

  std::mt19937 random_;
  const unsigned threads_;
  unsigned factor_ = 1, shift_ = 0, labels_ = 0;
  std::string body_;
};

struct Outcome {
  Words out;
  std::string refusal;
};

Outcome run(const std::string& text, FormOfCode form, const std::string& march, unsigned threads) {
  TestModule module(text, form);
  module.march = march;
  Words flags(std::size_t{threads} * 4, 0), out(std::size_t{threads} * outputs, 9);
  module.launch("k", {1, 1, 1}, {threads, 1, 1}, flags.data(), out.data());
  return {out, module.refusal};
}

}  // namespace

TEST(OvertakingLanes, find_out_what_fibers_do) {
  constexpr unsigned blocks[] = {64, 32, 100, 256, 40, 96};
  const auto [first, count] = random_kernels_to_run();
  for (std::uint32_t seed = first; seed < first + 3 * count; ++seed) {
    const unsigned threads = blocks[seed % std::size(blocks)];
    const std::string text = OvertakingWriter(seed, threads).kernel();
    const Words expected = run(text, FormOfCode::Scalar, "", threads).out;
    for (const FormOfCode form : {FormOfCode::Vector, FormOfCode::Masked}) {
      for (const std::string march : {"", plain_processor}) {
        const Outcome made = run(text, form, march, threads);
        EXPECT_EQ(made.refusal, "") << text;
        ASSERT_EQ(made.out, expected) << "seed " << seed << march << "\n" << text;
      }
    }
  }
}

}  // namespace cucore::cpu
