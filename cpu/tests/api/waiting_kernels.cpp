// Makes random kernels whose blocks wait for each other: see waiting_kernels.hpp.
#include "cpu/tests/api/waiting_kernels.hpp"

#include <iterator>
#include <numeric>
#include <random>

namespace cucore::cpu {

namespace {

// Words of a stage.
constexpr unsigned count_place = 0, word_bytes = 32, serving = 64, zero_bit = 96, verdicts = 128, flag_bits = 512;

constexpr unsigned lanes_of_warp = 32;

/// The kinds of waiting: which blocks wait for which others.
enum class Protocol : std::uint8_t { Lock, PatientLock, Ticket, Turn, ChainUp, ChainDown, Meeting };
constexpr const char* protocols[] = {"lock", "test-and-set lock", "ticket", "turn", "chain", "chain down", "meeting"};

/// Which threads of a block poll, and what the others do meanwhile.
enum class Style : std::uint8_t {
  LeaderSpins,         ///< the others wait at a barrier
  LeaderSleeps,        ///< the same with nanosleep
  LeaderThroughLocal,  ///< the same, and keeps what it has seen in a variable
  LeaderWalks,         ///< the same, in a loop with two back edges
  LeaderSweeps,        ///< the same, and looks some times in a loop within, which says whether something is missing
  OncePerBarrier,      ///< the leader says through shared memory what it has seen, between barriers
  OncePerReduction,    ///< and by bar.red
  WarpAsks,            ///< by shfl within its warp
  AllSpin,
  AllSweep,
  AllVote,
  AllReduce,  ///< bar.red.and of what all have seen
  OncePerClusterBarrier
};
constexpr const char* styles[] = {"leader spins",
                                  "leader sleeps",
                                  "leader spins through a variable",
                                  "leader walks",
                                  "leader sweeps",
                                  "once per barrier",
                                  "once per reduction",
                                  "warp asks",
                                  "all spin",
                                  "all sweep",
                                  "all vote",
                                  "all reduce",
                                  "once per cluster barrier"};

enum class Read : std::uint8_t { Volatile, Relaxed, Acquire, Cg, Cv, Add, Or, Cas, Called, Fenced };
constexpr const char* reads_memory[] = {"volatile", "relaxed", "acquire", "cg",     "cv",
                                        "add",      "or",      "cas",     "called", "fenced"};

class Writer {
 public:
  Writer(std::uint32_t seed, unsigned blocks, unsigned threads, unsigned cluster, bool strong)
      : random_(seed), blocks_(blocks), threads_(threads), cluster_(cluster), strong_(strong) {}

  WaitingKernel kernel() {
    WaitingKernel made;
    made.threads = threads_;
    made.stages = 1 + pick(3);
    for (unsigned n = 0; n < made.stages; ++n) made.rounds[n] = stage(n);
    if (pick(3) == 0) last_look(made.stages - 1, made.rounds[made.stages - 1]);
    made.title = title_ + "; " + std::to_string(blocks_) + " blocks of " + std::to_string(threads_) +
                 " threads in clusters of " + std::to_string(cluster_);
    made.ptx = std::string(".version 8.0\n") + (cluster_ > 1 ? ".target sm_90\n" : ".target sm_70\n") +
               ".address_size 64\n"
               ".func (.reg .b32 seen) look(.reg .b64 at)\n{\n  ld.relaxed.gpu.global.u32 seen, [at];\n  ret;\n}\n"
               ".visible .entry k(.param .u64 words, .param .u64 done)\n{\n"
               "  .reg .b32 %x, %block, %warp, %lane, %round, %done, %seen, %target, %leader, %ticket, %t<4>;\n"
               "  .reg .b64 %words, %out, %at, %own, %stage, %a<4>;\n  .reg .pred %p, %q, %ok, %leads;\n"
               "  .shared .align 4 .b8 said[4];\n  .local .align 4 .b8 kept[4];\n"
               "  ld.param.u64 %words, [words];\n  ld.param.u64 %out, [done];\n"
               "  mov.u32 %x, %tid.x;\n  mov.u32 %block, %ctaid.x;\n"
               "  shr.u32 %warp, %x, 5;\n  and.b32 %lane, %x, 31;\n  mov.u32 %done, 0;\n" +
               body_ +
               "  setp.ne.u32 %p, %x, 0;\n  @%p bra END;\n  mul.wide.u32 %a0, %block, 4;\n"
               "  add.u64 %out, %out, %a0;\n  st.global.u32 [%out], %done;\nEND:\n  ret;\n}\n";
    return made;
  }

 private:
  unsigned pick(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random_); }
  void line(const std::string& text) { body_ += "  " + text + ";\n"; }
  std::string label() { return "L" + std::to_string(labels_++); }
  void place(const std::string& label) { body_ += label + ":\n"; }
  static std::string word(unsigned number) { return std::to_string(4 * number); }

  /// Returns how many rounds it has.
  unsigned stage(unsigned number) {
    protocol_ = static_cast<Protocol>(pick(std::size(protocols)));
    choose_style();
    read_ = static_cast<Read>(pick(static_cast<unsigned>(Read::Fenced) + (strong_ ? 0 : 1)));
    leader_ = pick(2) == 0 ? 0 : pick(threads_);
    const unsigned rounds = 1 + pick(3);
    title_ += (number != 0 ? ", then " : "") + std::string(protocols[static_cast<unsigned>(protocol_)]) + ", " +
              styles[static_cast<unsigned>(style_)] + ", " + reads_memory[static_cast<unsigned>(read_)];

    line("add.u64 %stage, %words, " + word(number * stage_words));
    line("mov.u32 %leader, " + std::to_string(leader_));
    line("setp.eq.u32 %leads, %x, %leader");
    line("mov.u32 %round, 0");
    const std::string again = label();
    place(again);
    ask();
    wait();
    leader_only([&] { work(); });
    leader_only([&] { signal(); });
    if (pick(2) == 0) line("bar.sync 0");
    if (cluster_ > 1 && pick(2) == 0) cluster_barrier();
    line("add.u32 %done, %done, 1");
    line("add.u32 %round, %round, 1");
    line("setp.lt.u32 %p, %round, " + std::to_string(rounds));
    line("@%p bra " + again);
    return rounds;
  }

  void choose_style() {
    const bool whole_warps = threads_ % lanes_of_warp == 0;
    const bool takes = protocol_ == Protocol::Lock || protocol_ == Protocol::PatientLock;
    for (;;) {
      style_ = static_cast<Style>(pick(std::size(styles)));
      // Only one thread takes a lock; warps that ask have all their lanes; a cluster waits for what all wait for.
      if (takes && (style_ == Style::AllSpin || style_ == Style::AllVote || style_ == Style::AllReduce)) continue;
      if (takes && (style_ == Style::LeaderSweeps || style_ == Style::AllSweep)) continue;
      if (!whole_warps && (style_ == Style::AllVote || style_ == Style::WarpAsks)) continue;
      if (style_ == Style::OncePerClusterBarrier && (cluster_ == 1 || protocol_ != Protocol::Meeting)) continue;
      return;
    }
  }

  template <typename Body>
  void leader_only(const Body& body) {
    const std::string end = label();
    line("@!%leads bra " + end);
    body();
    place(end);
  }

  void cluster_barrier() {
    line("barrier.cluster.arrive");
    line("barrier.cluster.wait");
  }

  /// What comes before waiting: %at and %target say what is waited for.
  void ask() {
    line("mov.u64 %at, %stage");
    switch (protocol_) {
      case Protocol::Lock:
      case Protocol::PatientLock:
        line("add.u64 %at, %at, " + word(word_bytes));
        break;
      case Protocol::Ticket:
        leader_only([&] {
          line("atom.global.add.u32 %ticket, [%at+" + word(word_bytes) + "], 1");
          line("st.shared.u32 [said], %ticket");
        });
        line("bar.sync 0");
        line("ld.shared.u32 %target, [said]");
        line("bar.sync 0");
        line("add.u64 %at, %at, " + word(serving));
        break;
      case Protocol::Turn: {
        // In an order of its own: block i is the (a * i + b) mod blocks-th.
        unsigned a = 1 + pick(blocks_);
        while (std::gcd(a, blocks_) != 1) a = 1 + pick(blocks_);
        line("mad.lo.u32 %t0, %block, " + std::to_string(a) + ", " + std::to_string(pick(blocks_)));
        line("rem.u32 %t0, %t0, " + std::to_string(blocks_));
        line("mad.lo.u32 %target, %round, " + std::to_string(blocks_) + ", %t0");
        line("add.u64 %at, %at, " + word(serving));
        break;
      }
      case Protocol::ChainUp:
      case Protocol::ChainDown: {
        const bool is_up = protocol_ == Protocol::ChainUp;
        line("mul.wide.u32 %a0, %block, 4");
        line("add.u64 %own, %at, %a0");
        line("add.u64 %own, %own, " + word(flag_bits));
        line("add.u32 %target, %round, 1");
        line("setp.eq.u32 %p, %block, " + std::to_string(is_up ? 0 : blocks_ - 1));
        line("selp.u32 %target, 0, %target, %p");
        line(std::string(is_up ? "sub" : "add") + ".u64 %at, %own, 4");
        line("selp.b64 %at, %own, %at, %p");
        break;
      }
      case Protocol::Meeting:
        line("add.u64 %at, %at, " + word(word_bytes));
        line("bar.sync 0");
        leader_only([&] {
          line("membar.gl");
          line("red.global.add.u32 [%at], 1");
        });
        line("add.u32 %target, %round, 1");
        line("mul.lo.u32 %target, %target, " + std::to_string(blocks_));
        break;
    }
  }

  /// Looks once: %ok says whether the wait is over.
  void look() {
    if (protocol_ == Protocol::Lock || protocol_ == Protocol::PatientLock) {
      const std::string end = label();
      line("setp.ne.u32 %ok, %x, %x");
      if (protocol_ == Protocol::PatientLock) {
        read();
        line("setp.ne.u32 %q, %seen, 0");
        line("@%q bra " + end);
      }
      line("atom.global.cas.b32 %seen, [%at], 0, 1");
      line("setp.eq.u32 %ok, %seen, 0");
      place(end);
      return;
    }
    read();
    line("setp.ge.u32 %ok, %seen, %target");
  }

  void read() {
    switch (read_) {
      case Read::Volatile:
        return line("ld.volatile.global.u32 %seen, [%at]");
      case Read::Relaxed:
        return line("ld.relaxed.gpu.global.u32 %seen, [%at]");
      case Read::Acquire:
        return line("ld.acquire.gpu.global.u32 %seen, [%at]");
      case Read::Cg:
        return line("ld.global.cg.u32 %seen, [%at]");
      case Read::Cv:
        return line("ld.global.cv.u32 %seen, [%at]");
      case Read::Add:
        return line("atom.global.add.u32 %seen, [%at], 0");
      case Read::Or:
        return line("atom.global.or.b32 %seen, [%at], 0");
      case Read::Cas:
        return line("atom.global.cas.b32 %seen, [%at], 0, 0");
      case Read::Called:
        return line("call (%seen), look, (%at)");
      case Read::Fenced:
        line("membar.gl");
        return line("ld.global.u32 %seen, [%at]");
    }
  }

  void wait() {
    const std::string again = label();
    const std::string end = label();
    switch (style_) {
      case Style::LeaderSpins:
      case Style::LeaderSleeps:
      case Style::LeaderThroughLocal:
        line("@!%leads bra " + end);
        place(again);
        look();
        if (style_ == Style::LeaderSleeps) line("nanosleep.u32 " + std::to_string(20 + pick(200)));
        if (style_ == Style::LeaderThroughLocal) {
          line("selp.u32 %t0, 1, 0, %ok");
          line("st.local.u32 [kept], %t0");
          line("ld.local.u32 %t0, [kept]");
          line("setp.ne.u32 %ok, %t0, 0");
        }
        line("@!%ok bra " + again);
        place(end);
        line("bar.sync 0");
        break;
      case Style::LeaderWalks:
        line("@!%leads bra " + end);
        place(again);
        look();
        line("@!%ok bra " + again);
        look_again(again);
        place(end);
        line("bar.sync 0");
        break;
      case Style::LeaderSweeps:
        line("@!%leads bra " + end);
        sweep();
        place(end);
        line("bar.sync 0");
        break;
      case Style::OncePerBarrier:
        place(again);
        leader_only([&] {
          look();
          line("selp.u32 %t0, 1, 0, %ok");
          line("st.shared.u32 [said], %t0");
        });
        line("bar.sync 0");
        line("ld.shared.u32 %t0, [said]");
        line("bar.sync 0");
        line("setp.eq.u32 %p, %t0, 0");
        line("@%p bra " + again);
        break;
      case Style::OncePerReduction:
        place(again);
        line("setp.ne.u32 %ok, %x, %x");
        leader_only([&] { look(); });
        line("bar.red.or.pred %ok, 0, %ok");
        line("@!%ok bra " + again);
        break;
      case Style::WarpAsks:
        line("setp.ne.u32 %p, %warp, " + std::to_string(leader_ / lanes_of_warp));
        line("@%p bra " + end);
        place(again);
        line("mov.u32 %t0, 0");
        leader_only([&] {
          look();
          line("selp.u32 %t0, 1, 0, %ok");
        });
        line("bar.warp.sync -1");
        line("shfl.sync.idx.b32 %t0, %t0, " + std::to_string(leader_ % lanes_of_warp) + ", 31, -1");
        line("setp.eq.u32 %p, %t0, 0");
        line("@%p bra " + again);
        place(end);
        line("bar.sync 0");
        break;
      case Style::AllSpin:
        place(again);
        look();
        line("@!%ok bra " + again);
        line("bar.sync 0");
        break;
      case Style::AllSweep:
        sweep();
        line("bar.sync 0");
        break;
      case Style::AllVote:
        place(again);
        look();
        line("bar.warp.sync -1");
        line("vote.sync.all.pred %ok, %ok, -1");
        line("@!%ok bra " + again);
        line("bar.sync 0");
        break;
      case Style::AllReduce:
        place(again);
        look();
        line("bar.red.and.pred %ok, 0, %ok");
        line("@!%ok bra " + again);
        break;
      case Style::OncePerClusterBarrier:
        line("mov.u32 %t0, %clusterid.x");
        line("mul.wide.u32 %a0, %t0, 4");
        line("add.u64 %a0, %stage, %a0");
        line("mov.u32 %t1, %cluster_ctarank");
        line("mov.u32 %t2, 0");
        place(again);
        line("setp.ne.or.u32 %p, %t1, 0, !%leads");
        line("@%p bra " + end);
        look();
        // A number of its own for every round: what an earlier one left says nothing.
        line("add.u32 %t2, %round, 1");
        line("selp.u32 %t2, %t2, 0, %ok");
        line("st.volatile.global.u32 [%a0+" + word(verdicts) + "], %t2");
        line("membar.gl");
        place(end);
        cluster_barrier();
        line("ld.volatile.global.u32 %t2, [%a0+" + word(verdicts) + "]");
        cluster_barrier();
        line("setp.le.u32 %p, %t2, %round");
        line("@%p bra " + again);
        break;
    }
    line("membar.gl");
  }

  /// Until nothing is missing in a whole sweep.
  void sweep() {
    const std::string again = label(), within = label(), there = label();
    place(again);
    line("mov.u32 %t1, 0");
    line("mov.u32 %t2, 0");
    place(within);
    look();
    line("@%ok bra " + there);
    line("mov.u32 %t1, 1");
    place(there);
    line("add.u32 %t2, %t2, 1");
    line("setp.lt.u32 %p, %t2, " + std::to_string(1 + pick(3)));
    line("@%p bra " + within);
    line("setp.ne.u32 %p, %t1, 0");
    line("@%p bra " + again);
  }

  /// A lock that was taken is kept; anything else may be looked at once more.
  void look_again(const std::string& again) {
    if (protocol_ == Protocol::Lock || protocol_ == Protocol::PatientLock) return;
    look();
    line("@!%ok bra " + again);
  }

  /// The leader, while it has the lock, the ticket or the turn; where nobody is alone, it counts in one instruction.
  void work() {
    const std::string count = "[%stage+" + word(count_place) + "]";
    const bool is_alone =
        protocol_ != Protocol::ChainUp && protocol_ != Protocol::ChainDown && protocol_ != Protocol::Meeting;
    if (!is_alone) return line("red.global.add.u32 " + count + ", 1");
    line("ld.volatile.global.u32 %t0, " + count);
    if (pick(2) == 0) {
      // Takes its time, and polls nothing though it looks so: the others must not take that for waiting.
      const std::string again = label();
      line("mov.u32 %t1, 0");
      place(again);
      line("ld.volatile.global.u32 %t2, [%stage+" + word(zero_bit) + "]");
      line("add.u32 %t1, %t1, %t2");
      line("add.u32 %t1, %t1, 1");
      line("setp.lt.u32 %p, %t1, " + std::to_string(10 + pick(40)));
      line("@%p bra " + again);
    }
    line("add.u32 %t0, %t0, 1");
    line("st.volatile.global.u32 " + count + ", %t0");
  }

  void signal() {
    line("membar.gl");
    switch (protocol_) {
      case Protocol::Lock:
      case Protocol::PatientLock:
        return line("atom.global.exch.b32 %t0, [%at], 0");
      case Protocol::Ticket:
      case Protocol::Turn:
        line("add.u32 %t0, %target, 1");
        return store("[%at]", "%t0");
      case Protocol::ChainUp:
      case Protocol::ChainDown:
        line("add.u32 %t0, %round, 1");
        return store("[%own]", "%t0");
      case Protocol::Meeting:
        return;
    }
  }

  void store(const std::string& to, const std::string& value) {
    switch (pick(3)) {
      case 0:
        return line("st.volatile.global.u32 " + to + ", " + value);
      case 1:
        return line("st.release.gpu.global.u32 " + to + ", " + value);
      default:
        return line("atom.global.exch.b32 %t3, " + to + ", " + value);
    }
  }

  /// At the very end each thread looks once per barrier and leaves when it has seen that all counted: at different
  /// times, and those that have left count as arrived.
  void last_look(unsigned stage, unsigned rounds) {
    const std::string again = label();
    title_ += ", and a last look";
    line("add.u64 %at, %words, " + word(stage * stage_words + count_place));
    line("bar.sync 0");
    place(again);
    line("ld.volatile.global.u32 %seen, [%at]");
    line("bar.sync 0");
    line("setp.lt.u32 %p, %seen, " + std::to_string(rounds * blocks_));
    line("@%p bra " + again);
  }

  std::mt19937 random_;
  unsigned blocks_, threads_, cluster_;
  bool strong_;
  Protocol protocol_{};
  Style style_{};
  Read read_{};
  unsigned leader_ = 0;
  unsigned labels_ = 0;
  std::string body_, title_;
};

}  // namespace

WaitingKernel waiting_kernel(std::uint32_t seed, unsigned int blocks, unsigned int threads, unsigned int cluster,
                             bool strong) {
  return Writer(seed, blocks, threads, cluster, strong).kernel();
}

unsigned int waiting_kernel_threads(std::uint32_t seed) {
  constexpr unsigned int thread_count[] = {1, 32, 33, 64, 96, 128, 256};
  return thread_count[std::mt19937(seed)() % std::size(thread_count)];
}

}  // namespace cucore::cpu
