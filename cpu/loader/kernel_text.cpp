// A kernel in words, for its key: see kernel_key.hpp.
#include <set>
#include <span>
#include <unordered_map>

#include "cpu/loader/kernel_key.hpp"
#include "cpu/ptx/syntax/lexer.hpp"

namespace cucore::cpu::loader {
namespace {

using analysis::Callee;
using analysis::Reach;
using analysis::resolve;
using ptx::Function;
using ptx::FunctionId;
using ptx::Operand;
using ptx::Token;
using ptx::TokenKind;

class KernelText {
 public:
  KernelText(const ptx::Module& module, const Reach& reach) : module_(module), reach_(reach) {}

  std::string run() {
    add_number(module_.version.major);
    add_number(module_.version.minor);
    add_word(module_.target);
    for (const std::string_view option : module_.target_options) add_word(option);
    add_number(module_.address_size);
    for (const FunctionId id : reach_.functions) collect_callees(id);
    for (const ptx::VariableId id : reach_.variables) global_names_.insert(module_.variables[id].name);
    for (const FunctionId id : reach_.functions) global_names_.insert(module_.functions[id].name);
    for (const FunctionId id : callees_) global_names_.insert(module_.functions[id].name);

    for (const FunctionId id : reach_.functions) add_function(module_.functions[id]);
    for (const FunctionId id : callees_) add_callee(id);
    for (const ptx::VariableId id : reach_.variables) add_variable(module_.variables[id]);
    return std::move(text_);
  }

 private:
  static constexpr std::size_t not_numbered = static_cast<std::size_t>(-1);

  void add_word(std::string_view word) { text_.append(word).push_back('\n'); }
  void add_number(std::uint64_t number) { add_word(std::to_string(number)); }

  /// Those that the functions name, through other names and without bodies too.
  void collect_callees(FunctionId caller) {
    for (const ptx::Instruction& instruction : module_.functions[caller].body) collect_callees(instruction.operands);
    for (const ptx::TargetList& list : module_.functions[caller].target_lists)
      callees_.insert(list.functions.begin(), list.functions.end());
  }

  void collect_callees(std::span<const Operand> operands) {
    for (const Operand& operand : operands) {
      if (operand.kind == Operand::Kind::Function) callees_.insert(operand.function);
      collect_callees(operand.elements);
    }
  }

  /// What a name leads to. In the order of the module, which two modules may differ in: then it is another key.
  void add_callee(FunctionId id) {
    const Callee callee = resolve(module_, id);
    const Function& function = module_.functions[id];
    add_word(function.name);
    if (callee.function)
      add_word(module_.functions[*callee.function].name);
    else
      add_tokens(function);
  }

  void add_function(const Function& function) {
    add_number(function.is_entry);
    add_number(static_cast<std::uint64_t>(function.linkage));
    add_tokens(function);
  }

  /// The compiler numbers some of these names through the module. Here they get numbers where they first stand.
  std::unordered_map<std::string_view, std::size_t> names_inside(const Function& function) const {
    std::unordered_map<std::string_view, std::size_t> names;
    const auto add_names = [&](const auto& named) {
      for (const auto& each : named)
        if (!global_names_.contains(each.name)) names.emplace(each.name, not_numbered);
    };
    add_names(function.labels);
    add_names(function.variables);
    add_names(function.prototypes);
    add_names(function.target_lists);
    return names;
  }

  void add_tokens(const Function& function) {
    std::unordered_map<std::string_view, std::size_t> inside = names_inside(function);
    std::size_t numbered = 0;
    ptx::Lexer lexer(function.text);
    std::uint32_t skipped_line = 0;
    for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
      if (token.is_dot("loc")) skipped_line = token.position.line;
      if (token.position.line == skipped_line) continue;
      if (const auto name = token.kind == TokenKind::Identifier ? inside.find(token.text) : inside.end();
          name != inside.end()) {
        if (name->second == not_numbered) name->second = numbered++;
        add_word("\1" + std::to_string(name->second));  // no PTX name begins so
        continue;
      }
      if (token.kind == TokenKind::DotWord) text_.push_back('.');
      if (token.kind == TokenKind::String) text_.push_back('"');
      add_word(token.text);
    }
  }

  void add_variable(const ptx::Variable& variable) {
    add_word(variable.name);
    for (const std::uint64_t number :
         {static_cast<std::uint64_t>(variable.space), static_cast<std::uint64_t>(variable.type),
          static_cast<std::uint64_t>(variable.linkage), std::uint64_t{variable.vector_width},
          std::uint64_t{variable.alignment}, variable.size, std::uint64_t{variable.is_array},
          std::uint64_t{variable.managed}, std::uint64_t{variable.initial.size()}})
      add_number(number);
    for (const std::uint64_t dimension : variable.dimensions) add_number(dimension);
    text_.append(variable.initial.begin(), variable.initial.end());
    for (const ptx::Relocation& relocation : variable.relocations) {
      for (const std::uint64_t number :
           {relocation.offset, std::uint64_t{relocation.width}, std::uint64_t{relocation.shift},
            std::uint64_t{relocation.generic}, static_cast<std::uint64_t>(relocation.addend)})
        add_number(number);
      if (relocation.is_function) {
        const Callee callee = resolve(module_, relocation.function);
        add_word(module_.functions[callee.function.value_or(relocation.function)].name);
      } else {
        add_word(module_.variables[relocation.variable].name);
      }
    }
    for (const ptx::SamplerAttribute& attribute : variable.attributes) {
      add_word(attribute.name);
      add_word(attribute.value);
    }
  }

  const ptx::Module& module_;
  const Reach& reach_;
  std::set<std::string_view> global_names_;
  std::set<FunctionId> callees_;
  std::string text_;
};

}  // namespace

std::string kernel_text(const ptx::Module& module, const Reach& reach) { return KernelText(module, reach).run(); }

}  // namespace cucore::cpu::loader
