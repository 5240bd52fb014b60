// Statements of a function body: blocks, labels, directives, instructions.
#include <utility>

#include "cpu/ptx/syntax/module_parser.hpp"
#include "cpu/ptx/tree/words.hpp"

namespace cucore::cpu::ptx {

/// Everything up to the `}` of a block whose `{` has been consumed.
void ModuleParser::parse_block() {
  const Nesting nesting(*this);
  while (!accept("}")) {
    if (token_.kind == TokenKind::End) fail_at_token("'}' of a function body");
    if (accept("{")) {
      scopes_.open();
      parse_block();
      resolve_labels();
      scopes_.pass_outwards(std::move(scopes_.label_uses()));
      scopes_.close();
    } else {
      parse_statement();
    }
  }
}

/// Resolves the label uses of the innermost scope to its labels; those it does not have remain.
void ModuleParser::resolve_labels() {
  std::vector<LabelUse> unresolved;
  for (const LabelUse& use : scopes_.label_uses()) {
    const auto entity = scopes_.find_innermost(use.name);
    if (!entity) {
      unresolved.push_back(use);
    } else if (entity->kind != Entity::Kind::Label) {
      report(use.position, quote(use.name) + " is not a label");
    } else if (use.in_target_list) {
      function_->target_lists[use.index].labels[use.element] = entity->index;
    } else {
      function_->body[use.index].operands[0].label = entity->index;
    }
  }
  scopes_.label_uses() = std::move(unresolved);
}

void ModuleParser::parse_statement() {
  if (token_.kind == TokenKind::DotWord) {
    parse_directive_statement();
    return;
  }
  std::optional<Guard> guard;
  if (accept("@")) guard = parse_guard();
  const Token name = expect_kind(TokenKind::Identifier, "an instruction");
  if (!guard && accept(":")) {
    parse_labelled(name);
  } else {
    parse_instruction(guard, name);
  }
}

void ModuleParser::parse_directive_statement() {
  if (token_.is_dot("loc")) {
    parse_loc();
  } else if (token_.is_dot("pragma")) {
    parse_pragma();
  } else if (accept_dot("reg")) {
    parse_registers();
  } else if (token_.is_dot("local") || token_.is_dot("shared") || token_.is_dot("param") || token_.is_dot("global") ||
             token_.is_dot("const") || token_.is_dot("attribute")) {
    Variable attributes;
    if (accept_dot("attribute")) parse_attributes(&attributes);
    parse_variables(Linkage::Internal, attributes);
  } else {
    fail_at_token("a statement");
  }
}

void ModuleParser::parse_loc() {
  advance();
  source_.file = expect_number("the index of a file");
  source_.line = expect_number("a line");
  source_.column = expect_number("a column");
  // `, function_name label+offset, inlined_at file line column`: the place inlined into is not kept.
  while (accept(",")) {
    if (token_.is_word("function_name")) {
      advance();
      expect_kind(TokenKind::Identifier, "a label of a debug section");
      if (accept("+")) expect_kind(TokenKind::Integer, "an offset");
    } else if (token_.is_word("inlined_at")) {
      advance();
      for (const char* what : {"the index of a file", "a line", "a column"}) expect_kind(TokenKind::Integer, what);
    } else {
      fail_at_token("'function_name' or 'inlined_at'");
    }
  }
}

void ModuleParser::parse_labelled(const Token& name) {
  if (accept_dot("callprototype")) {
    parse_prototype(name);
  } else if (accept_dot("branchtargets")) {
    parse_target_list(name, true);
  } else if (accept_dot("calltargets")) {
    parse_target_list(name, false);
  } else {
    declare_label(name);
  }
}

void ModuleParser::declare_label(const Token& name) {
  const auto id = static_cast<LabelId>(function_->labels.size());
  if (!scopes_.declare(name.text, {Entity::Kind::Label, id})) {
    report(name.position, "redefinition of " + quote(name.text));
  }
  function_->labels.push_back({name.text, static_cast<std::uint32_t>(function_->body.size())});
}

void ModuleParser::parse_prototype(const Token& name) {
  Prototype prototype;
  prototype.name = name.text;
  if (token_.is("(")) prototype.returns = parse_parameters(true);
  expect_name("'_' of a call prototype");
  if (token_.is("(")) prototype.parameters = parse_parameters(true);
  PerformanceDirectives directives;
  while (token_.kind == TokenKind::DotWord && parse_function_directive(directives)) {
  }
  prototype.noreturn = directives.noreturn;
  expect(";");
  const auto id = static_cast<std::uint32_t>(function_->prototypes.size());
  if (!scopes_.declare(name.text, {Entity::Kind::Prototype, id})) {
    report(name.position, "redefinition of " + quote(name.text));
  }
  function_->prototypes.push_back(std::move(prototype));
}

void ModuleParser::parse_target_list(const Token& name, bool of_labels) {
  TargetList list;
  list.name = name.text;
  const auto id = static_cast<std::uint32_t>(function_->target_lists.size());
  do {
    const Token target = expect_kind(TokenKind::Identifier, of_labels ? "a label" : "a function");
    if (of_labels) {
      scopes_.label_uses().push_back(
          {target.text, target.position, true, id, static_cast<std::uint32_t>(list.labels.size())});
      list.labels.push_back(0);
      continue;
    }
    const auto entity = scopes_.find(target.text, function_->registers);
    if (!entity || entity->kind != Entity::Kind::Function) {
      report(target.position, quote(target.text) + " is not a function");
    } else {
      list.functions.push_back(entity->index);
    }
  } while (accept(","));
  expect(";");
  if (!scopes_.declare(name.text, {Entity::Kind::TargetList, id})) {
    report(name.position, "redefinition of " + quote(name.text));
  }
  function_->target_lists.push_back(std::move(list));
}

Guard ModuleParser::parse_guard() {
  Guard guard;
  guard.negated = accept("!");
  const Token name = expect_kind(TokenKind::Identifier, "a predicate register after '@'");
  const auto entity = scopes_.find(name.text, function_->registers);
  if (!entity) {
    report(name.position, "undefined name " + quote(name.text));
  } else if (entity->kind != Entity::Kind::Register || function_->registers[entity->index].type != Type::Pred) {
    report(name.position, quote(name.text) + " is not a predicate register");
  } else {
    guard.reg = entity->index;
  }
  return guard;
}

namespace {

bool is_of_matrices(Opcode opcode) {
  return opcode == Opcode::Mma || opcode == Opcode::Wmma || opcode == Opcode::Wgmma;
}

}  // namespace

void ModuleParser::parse_dot_words(Instruction& instruction) {
  while (token_.kind == TokenKind::DotWord) {
    advance();
    const auto meaning = find_dot_word(last_.text);
    if (!meaning) {
      report(last_.position, "unknown modifier '." + std::string(last_.text.substr(0, 80)) + "' of instruction " +
                                 quote(spelling(instruction.opcode)));
      continue;
    }
    switch (meaning->kind) {
      case DotWordMeaning::Kind::Modifier:
        // A byte selector of the video instructions, a type of matrices.
        if (meaning->modifier == Modifier::Byte1 && is_of_matrices(instruction.opcode)) {
          instruction.types.push_back(Type::B1);
        } else {
          instruction.modifiers.push_back(meaning->modifier);
        }
        break;
      case DotWordMeaning::Kind::Type:
        instruction.types.push_back(meaning->type);
        break;
      case DotWordMeaning::Kind::Space:
        instruction.spaces.push_back(meaning->space);
        instruction.subspaces.push_back(meaning->subspace);
        break;
      case DotWordMeaning::Kind::VectorWidth:
        instruction.vector_width = meaning->vector_width;
        break;
    }
    const char* const end = last_.text.data() + last_.text.size();
    const char* const begin = instruction.spelt.data();
    instruction.spelt = std::string_view(begin, static_cast<std::size_t>(end - begin));
  }
}

void ModuleParser::parse_instruction(std::optional<Guard> guard, const Token& mnemonic) {
  Instruction instruction;
  instruction.position = mnemonic.position;
  instruction.source = source_;
  instruction.guard = guard;
  instruction.spelt = mnemonic.text;
  const auto opcode = find_opcode(mnemonic.text);
  if (!opcode) {
    report(mnemonic.position, "unknown instruction " + quote(mnemonic.text));
    while (!token_.is(";") && !token_.is("}") && token_.kind != TokenKind::End) advance();
    expect(";");
    return;
  }
  instruction.opcode = *opcode;
  parse_dot_words(instruction);
  if (*opcode == Opcode::Call) {
    parse_call(instruction);
  } else if (!token_.is(";") && !token_.is("}")) {
    do {
      instruction.operands.push_back(parse_operand(*opcode));
      const Operand& operand = instruction.operands.back();
      if (operand.kind == Operand::Kind::Label) {
        const auto index = static_cast<std::uint32_t>(function_->body.size());
        scopes_.label_uses().push_back({last_.text, last_.position, false, index, 0});
        if (instruction.operands.size() > 1) report(last_.position, "a branch has one target");
      }
    } while (accept(","));
  }
  expect(";");
  function_->body.push_back(std::move(instruction));
}

void ModuleParser::parse_call(Instruction& instruction) {
  Operand returns;
  returns.kind = Operand::Kind::List;
  Operand arguments = returns;
  if (accept("(")) {
    returns = parse_list(")", Operand::Kind::List);
    expect(",");
  }
  Operand callee = parse_name_as_operand(expect_kind(TokenKind::Identifier, "the function to call"));
  if (callee.kind != Operand::Kind::Function && callee.kind != Operand::Kind::Register) {
    // An undefined name has been reported.
    if (callee.kind != Operand::Kind::Sink || last_.text == "_")
      report(last_.position, quote(last_.text) + " cannot be called");
    callee.kind = Operand::Kind::Function;
  }
  std::optional<Operand> signature;
  if (accept(",")) {
    const bool has_arguments = accept("(");
    if (has_arguments) arguments = parse_list(")", Operand::Kind::List);
    if (!has_arguments || accept(",")) {
      const Token name = expect_kind(TokenKind::Identifier, "a call prototype or a list of call targets");
      signature = parse_name_as_operand(name);
      if (signature->kind != Operand::Kind::Prototype && signature->kind != Operand::Kind::TargetList) {
        if (signature->kind != Operand::Kind::Sink || name.text == "_") {
          report(name.position, quote(name.text) + " is neither a call prototype nor a list of call targets");
        }
        signature->kind = Operand::Kind::Prototype;
      }
    }
  }
  instruction.operands.push_back(std::move(returns));
  instruction.operands.push_back(std::move(callee));
  instruction.operands.push_back(std::move(arguments));
  if (signature) instruction.operands.push_back(std::move(*signature));
}

}  // namespace cucore::cpu::ptx
