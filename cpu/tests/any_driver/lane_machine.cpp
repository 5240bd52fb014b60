// Programs for the threads of a block: see lane_machine.hpp. The PTX writer, and the model.
#include "cpu/tests/any_driver/lane_machine.hpp"

#include <algorithm>
#include <bit>

namespace cucore::cpu {

std::uint32_t first_word(std::uint32_t i) { return i * 40503 % 1009; }
std::uint32_t first_value(std::uint32_t thread) { return (thread * 2654435761U) >> 7; }

std::uint32_t LaneMachine::words_of(bool is_global) const {
  std::uint32_t words = 0;
  for (const LaneArray& array : arrays)
    if ((array.space == LaneSpace::Global) == is_global) words = std::max(words, array.first + array.words);
  return words;
}

namespace {

using Mask = std::vector<bool>;

// ---- the text -------------------------------------------------------------------------------------------------------

class Text {
 public:
  explicit Text(const LaneMachine& machine) : machine_(machine) {}

  std::string make() {
    text_ = ".version 7.0\n.target sm_70\n.address_size 64\n";
    for (std::size_t i = 0; i < machine_.arrays.size(); ++i)
      if (machine_.arrays[i].space != LaneSpace::Global)
        text_ += ".shared .align 4 .b8 a" + std::to_string(i) + "[" + number(machine_.arrays[i].words * 4) + "];\n";
    std::string functions;
    for (std::size_t i = 0; i < machine_.functions.size(); ++i) functions += function(i);
    const std::string size = number(machine_.registers + 1);
    std::string kernel = ".visible .entry k(.param .u64 cells, .param .u64 out)\n{\n";
    begin("  ld.param.u64 %cells, [cells];\n  ld.param.u64 %out, [out];\n");
    steps(machine_.kernel, nullptr);
    line("st.global.u32 [%out], %r0");
    kernel += declared() + body_ + "  ret;\n}\n";
    return text_ + functions + kernel;
  }

 private:
  static std::string number(std::uint64_t value) { return std::to_string(value); }
  void line(const std::string& instruction) { body_ += "  " + instruction + ";\n"; }
  std::string fresh(const char* kind) { return kind + number(numbers_++); }
  static std::string reg(std::uint32_t r) { return "%r" + number(r); }
  static std::string of(const LaneValue& value) { return value.is_number ? number(value.number) : reg(value.number); }

  std::string declared() const {
    return "  .reg .u32 %r<" + number(machine_.registers + 1) + ">, %t<" + number(numbers_ + 1) +
           ">;\n  .reg .u64 %d<" + number(numbers_ + 1) + ">, %cells, %out;\n  .reg .pred %p<" + number(numbers_ + 1) +
           ">;\n";
  }

  /// In a function, `cells` are its own argument, and all registers, which it gives back.
  void begin(const std::string& loads) {
    body_ = loads;
    numbers_ = 0;
    if (loads.find("%out") == std::string::npos) return;
    line("cvta.to.global.u64 %cells, %cells");
    line("cvta.to.global.u64 %out, %out");
    // The thread's number, and where its results and its block's cells are.
    const std::string x = fresh("%t"), y = fresh("%t"), z = fresh("%t"), b = fresh("%t");
    line("mov.u32 " + x + ", %tid.x");
    line("mov.u32 " + y + ", %tid.y");
    line("mov.u32 " + z + ", %tid.z");
    line("mad.lo.u32 " + z + ", " + z + ", " + number(machine_.block[1]) + ", " + y);
    line("mad.lo.u32 " + z + ", " + z + ", " + number(machine_.block[0]) + ", " + x);
    line("mov.u32 " + b + ", %ctaid.x");
    line("mad.wide.u32 %cells, " + b + ", " + number(machine_.words_of(true) * 4) + ", %cells");
    line("mad.lo.u32 " + z + ", " + b + ", " + number(machine_.threads()) + ", " + z);
    line("mad.wide.u32 %out, " + z + ", 4, %out");
    line("mul.lo.u32 %r0, " + z + ", 2654435761");
    line("shr.u32 %r0, %r0, 7");
  }

  std::string function(std::size_t id) {
    const std::vector<std::uint32_t> in = shared_registers();
    std::string head = ".func (.param .b32 back) f" + number(id) + "(.param .b64 base";
    for (const std::uint32_t r : in) head += ", .param .b32 in" + number(r);
    head += ")\n{\n";
    body_.clear();
    numbers_ = 0;
    line("ld.param.u64 %cells, [base]");
    for (const std::uint32_t r : in) line("ld.param.u32 " + reg(r) + ", [in" + number(r) + "]");
    in_function_ = true;
    const std::string end = fresh("RETURNS");
    steps(machine_.functions[id], &end);
    in_function_ = false;
    body_ += end + ":\n";
    line("st.param.b32 [back], %r0");
    return head + declared() + body_ + "  ret;\n}\n";
  }

  /// What functions get: the first registers, which the kernel sets at its begin.
  static std::vector<std::uint32_t> shared_registers() { return {0, 1, 2, 3, 4, 5}; }

  std::string address(const LaneStep& step) {
    const LaneArray& array = machine_.arrays[step.number];
    const std::string name = "a" + number(step.number);
    const std::string offset = step.offset == 0 ? "" : "+" + std::to_string(step.offset * 4);
    if (array.space == LaneSpace::Shared && !in_function_) {
      if (step.a.is_number) return "[" + name + "+" + std::to_string((int(step.a.number) + step.offset) * 4) + "]";
      const std::string base = fresh("%t"), at = fresh("%t");
      line("mov.u32 " + base + ", " + name);
      if (machine_.shifts) {
        line("shl.b32 " + at + ", " + of(step.a) + ", 2");
        line("add.u32 " + at + ", " + at + ", " + base);
      } else {
        line("mad.lo.u32 " + at + ", " + of(step.a) + ", 4, " + base);
      }
      return "[" + at + offset + "]";
    }
    std::string base = fresh("%d"), at = fresh("%d"), index = fresh("%t");
    if (in_function_ || array.space == LaneSpace::Global) {
      base = "%cells";
    } else {
      line("mov.u64 " + base + ", " + name);
      line("cvta.shared.u64 " + base + ", " + base);
    }
    line("mov.u32 " + index + ", " + of(step.a));
    line("mad.wide.u32 " + at + ", " + index + ", 4, " + base);
    const std::int32_t first = array.space == LaneSpace::Global ? static_cast<std::int32_t>(array.first) : 0;
    return "[" + at + "+" + std::to_string((step.offset + first) * 4) + "]";
  }

  std::string access(const LaneStep& step, const char* what) const {
    const LaneArray& array = machine_.arrays[step.number];
    std::string text = what;
    if (array.is_volatile) text += ".volatile";
    if (array.space == LaneSpace::Global && !in_function_) text += ".global";
    if (array.space == LaneSpace::Shared && !in_function_) text += ".shared";
    return text + ".u32 ";
  }

  std::string holds(const LaneValue& value) {
    const std::string p = fresh("%p");
    line("setp.ne.u32 " + p + ", " + of(value) + ", 0");
    return p;
  }

  void steps(const std::vector<LaneStep>& all, const std::string* returns) {
    for (const LaneStep& one : all) step(one, returns);
  }

  void binary(const char* name, const LaneStep& s) {
    line(std::string(name) + " " + reg(s.to) + ", " + of(s.a) + ", " + of(s.b));
  }

  void compare(const char* name, const LaneStep& s) {
    const std::string p = fresh("%p");
    line(std::string(name) + " " + p + ", " + of(s.a) + ", " + of(s.b));
    line("selp.u32 " + reg(s.to) + ", 1, 0, " + p);
  }

  void step(const LaneStep& s, const std::string* returns) {
    static constexpr const char* axes = "xyz";
    switch (s.op) {
      case LaneOp::Set:
      case LaneOp::Copy:
        return line("mov.u32 " + reg(s.to) + ", " + of(s.a));
      case LaneOp::Tid:
        return line("mov.u32 " + reg(s.to) + ", %tid." + axes[s.number]);
      case LaneOp::Laneid:
        return line("mov.u32 " + reg(s.to) + ", %laneid");
      case LaneOp::Add:
        return binary("add.u32", s);
      case LaneOp::Sub:
        return binary("sub.u32", s);
      case LaneOp::Mul: {
        // The block's size as programs ask for it.
        if (machine_.asks_for_size && s.number != 0) {
          const std::string size = fresh("%t");
          line("mov.u32 " + size + ", %ntid." + axes[s.number - 1]);
          return line("mul.lo.u32 " + reg(s.to) + ", " + of(s.a) + ", " + size);
        }
        return binary("mul.lo.u32", s);
      }
      case LaneOp::And:
        return binary("and.b32", s);
      case LaneOp::Or:
        return binary("or.b32", s);
      case LaneOp::Xor:
        return binary("xor.b32", s);
      case LaneOp::Shl:
        return binary("shl.b32", s);
      case LaneOp::Shr:
        return binary("shr.u32", s);
      case LaneOp::Div:
        return binary("div.u32", s);
      case LaneOp::Rem:
        return binary("rem.u32", s);
      case LaneOp::Min:
        return binary("min.u32", s);
      case LaneOp::Max:
        return binary("max.u32", s);
      case LaneOp::Popc:
        return line("popc.b32 " + reg(s.to) + ", " + of(s.a));
      case LaneOp::Less:
        return compare("setp.lt.u32", s);
      case LaneOp::Equal:
        return compare("setp.eq.u32", s);
      case LaneOp::Select: {
        const std::string p = holds(s.c);
        return line("selp.u32 " + reg(s.to) + ", " + of(s.a) + ", " + of(s.b) + ", " + p);
      }
      case LaneOp::Load: {
        const std::string at = address(s);
        return line(access(s, "ld") + reg(s.to) + ", " + at);
      }
      case LaneOp::Store: {
        const std::string at = address(s);
        return line(access(s, "st") + at + ", " + of(s.b));
      }
      case LaneOp::Ballot:
        return line("vote.sync.ballot.b32 " + reg(s.to) + ", " + holds(s.a) + ", 0xffffffff");
      case LaneOp::Barrier:
        return line("bar.sync 0");
      case LaneOp::WarpBarrier:
        return line("bar.warp.sync 0xffffffff");
      case LaneOp::If: {
        const std::string p = holds(s.a), other = fresh("ELSE"), end = fresh("END");
        line("@!" + p + " bra " + other);
        steps(s.body, returns);
        if (!s.other.empty()) line("bra " + end);
        body_ += other + ":\n";
        steps(s.other, returns);
        if (!s.other.empty()) body_ += end + ":\n";
        return;
      }
      case LaneOp::Repeat: {
        const std::string head = fresh("AGAIN");
        body_ += head + ":\n";
        steps(s.body, returns);
        const std::string p = holds(s.a);
        return line("@" + p + " bra " + head);
      }
      case LaneOp::ReturnIf: {
        const std::string p = holds(s.a);
        return line("@" + p + " bra " + *returns);
      }
      case LaneOp::Call:
        return call(s);
    }
  }

  /// `a` is the array that the function gets.
  void call(const LaneStep& s) {
    const std::string base = fresh("%d"), id = number(numbers_++);
    if (machine_.arrays[s.a.number].space == LaneSpace::Global) {
      line("cvta.global.u64 " + base + ", %cells");
    } else {
      line("mov.u64 " + base + ", a" + number(s.a.number));
      line("cvta.shared.u64 " + base + ", " + base);
    }
    body_ += "  {\n  .param .b32 back;\n  .param .b64 base;\n";
    line("st.param.b64 [base], " + base);
    std::string arguments = "base";
    for (const std::uint32_t r : shared_registers()) {
      body_ += "  .param .b32 in" + number(r) + ";\n";
      line("st.param.b32 [in" + number(r) + "], " + reg(r));
      arguments += ", in" + number(r);
    }
    line("call.uni (back), f" + number(s.number) + ", (" + arguments + ")");
    line("ld.param.b32 %r0, [back]");
    body_ += "  }\n";
  }

  const LaneMachine& machine_;
  std::string text_, body_;
  unsigned numbers_ = 0;
  bool in_function_ = false;
};

// ---- the model ------------------------------------------------------------------------------------------------------

class Model {
 public:
  explicit Model(const LaneMachine& machine)
      : machine_(machine), registers_(machine.registers + 1, std::vector<std::uint32_t>(machine.threads())) {}

  std::vector<std::uint32_t> run(std::uint32_t block) {
    for (const bool is_global : {false, true}) {
      std::vector<Word>& words = memory_[is_global ? 1 : 0];
      words.resize(machine_.words_of(is_global) + 1);
      for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = {.value = first_word(i)};
    }
    for (std::uint32_t thread = 0; thread < machine_.threads(); ++thread)
      registers_[0][thread] = first_value(block * machine_.threads() + thread);
    steps(machine_.kernel, Mask(machine_.threads(), true));
    return registers_[0];
  }
  const std::string& fault() const { return fault_; }

 private:
  static constexpr std::uint32_t nobody = ~0U, several = ~0U - 1;
  /// Since the last barrier of the block: which warps wrote and read it.
  struct Word {
    std::uint32_t value = 0, writer = nobody, reader = nobody;
    std::uint64_t written_at = 0;
  };

  template <typename Visit>
  void for_each(const Mask& mask, const Visit& visit) {
    for (std::uint32_t thread = 0; thread < mask.size(); ++thread)
      if (mask[thread]) visit(thread);
  }
  std::uint32_t of(const LaneValue& value, std::uint32_t thread) const {
    return value.is_number ? value.number : registers_[value.number][thread];
  }

  Mask steps(const std::vector<LaneStep>& all, Mask mask) {
    for (const LaneStep& one : all) {
      if (std::find(mask.begin(), mask.end(), true) == mask.end()) break;
      mask = step(one, mask);
    }
    return mask;
  }

  Mask both(const Mask& mask, const LaneValue& value, bool holds) const {
    Mask result = mask;
    for (std::uint32_t thread = 0; thread < mask.size(); ++thread)
      result[thread] = mask[thread] && (of(value, thread) != 0) == holds;
    return result;
  }

  Word* word(const LaneStep& s, std::uint32_t thread) {
    const LaneArray& array = machine_.arrays[s.number];
    std::vector<Word>& words = memory_[array.space == LaneSpace::Global ? 1 : 0];
    const std::uint32_t at = of(s.a, thread) + static_cast<std::uint32_t>(s.offset) + array.first;
    if (at < words.size()) return &words[at];
    fault_ = "leaves memory";
    return nullptr;
  }

  void load(const LaneStep& s, const Mask& mask) {
    for_each(mask, [&](std::uint32_t thread) {
      Word* const from = word(s, thread);
      if (from == nullptr) return;
      const std::uint32_t warp = thread / 32;
      if (from->writer != nobody && from->writer != warp) fault_ = "reads what another warp writes";
      from->reader = from->reader == nobody || from->reader == warp ? warp : several;
      registers_[s.to][thread] = from->value;
    });
  }

  void store(const LaneStep& s, const Mask& mask) {
    ++now_;
    for_each(mask, [&](std::uint32_t thread) {
      Word* const to = word(s, thread);
      if (to == nullptr) return;
      const std::uint32_t warp = thread / 32, value = of(s.b, thread);
      const bool is_same = to->value == value;
      if (to->writer != nobody && to->writer != warp && !is_same) fault_ = "writes what another warp wrote";
      if (to->reader != nobody && to->reader != warp && !is_same) fault_ = "writes what another warp reads";
      if (to->written_at == now_ && !is_same) fault_ = "two lanes write different values at once";
      to->writer = warp;
      to->value = value;
      to->written_at = now_;
    });
  }

  std::uint32_t result(const LaneStep& s, std::uint32_t thread) const {
    const std::uint32_t a = of(s.a, thread), b = of(s.b, thread);
    switch (s.op) {
      case LaneOp::Tid: {
        const std::uint32_t x = thread % machine_.block[0], rest = thread / machine_.block[0];
        return s.number == 0 ? x : s.number == 1 ? rest % machine_.block[1] : rest / machine_.block[1];
      }
      case LaneOp::Laneid:
        return thread % 32;
      case LaneOp::Add:
        return a + b;
      case LaneOp::Sub:
        return a - b;
      case LaneOp::Mul:
        return a * b;
      case LaneOp::And:
        return a & b;
      case LaneOp::Or:
        return a | b;
      case LaneOp::Xor:
        return a ^ b;
      case LaneOp::Shl:
        return b < 32 ? a << b : 0;
      case LaneOp::Shr:
        return b < 32 ? a >> b : 0;
      case LaneOp::Div:
        return a / b;
      case LaneOp::Rem:
        return a % b;
      case LaneOp::Min:
        return std::min(a, b);
      case LaneOp::Max:
        return std::max(a, b);
      case LaneOp::Popc:
        return static_cast<std::uint32_t>(std::popcount(a));
      case LaneOp::Less:
        return a < b ? 1 : 0;
      case LaneOp::Equal:
        return a == b ? 1 : 0;
      case LaneOp::Select:
        return of(s.c, thread) != 0 ? a : b;
      default:
        return a;
    }
  }

  Mask step(const LaneStep& s, const Mask& mask) {
    switch (s.op) {
      case LaneOp::Load:
        load(s, mask);
        return mask;
      case LaneOp::Store:
        store(s, mask);
        return mask;
      case LaneOp::Ballot: {
        std::vector<std::uint32_t> votes(machine_.threads() / 32 + 1);
        for_each(mask, [&](std::uint32_t t) { votes[t / 32] |= (of(s.a, t) != 0 ? 1U : 0U) << t % 32; });
        for_each(mask, [&](std::uint32_t t) { registers_[s.to][t] = votes[t / 32]; });
        return mask;
      }
      case LaneOp::Barrier:
        for (auto& words : memory_)
          for (Word& each : words) each.writer = each.reader = nobody;
        return mask;
      case LaneOp::WarpBarrier:
        return mask;
      case LaneOp::If: {
        Mask left = steps(s.body, both(mask, s.a, true));
        const Mask right = steps(s.other, both(mask, s.a, false));
        for (std::uint32_t t = 0; t < left.size(); ++t) left[t] = left[t] || right[t];
        return left;
      }
      case LaneOp::Repeat: {
        Mask done(mask.size(), false), going = mask;
        while (std::find(going.begin(), going.end(), true) != going.end()) {
          going = steps(s.body, going);
          const Mask again = both(going, s.a, true);
          for (std::uint32_t t = 0; t < done.size(); ++t) done[t] = done[t] || (going[t] && !again[t]);
          going = again;
        }
        return done;
      }
      case LaneOp::Call: {
        const auto kept = registers_;
        steps(machine_.functions[s.number], mask);
        for (std::size_t r = 1; r < kept.size(); ++r) registers_[r] = kept[r];
        return mask;
      }
      case LaneOp::ReturnIf:
        return both(mask, s.a, false);
      default: {
        std::vector<std::uint32_t>& to = registers_[s.to];
        for_each(mask, [&](std::uint32_t thread) { to[thread] = result(s, thread); });
        return mask;
      }
    }
  }

  const LaneMachine& machine_;
  std::vector<std::vector<std::uint32_t>> registers_;  ///< by number and thread
  std::vector<Word> memory_[2];                        ///< shared, and the block's part of global
  std::uint64_t now_ = 0;
  std::string fault_;
};

}  // namespace

std::string LaneMachine::ptx() const { return Text(*this).make(); }

std::vector<std::uint32_t> LaneMachine::run(std::string* fault) const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t b = 0; b < blocks; ++b) {
    Model model(*this);
    const std::vector<std::uint32_t> values = model.run(b);
    out.insert(out.end(), values.begin(), values.end());
    if (!model.fault().empty()) *fault = model.fault();
  }
  return out;
}

}  // namespace cucore::cpu
