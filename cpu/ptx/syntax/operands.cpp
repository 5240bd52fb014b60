// Operands of instructions.
#include <utility>

#include "cpu/ptx/syntax/module_parser.hpp"
#include "cpu/ptx/tree/code_writer.hpp"
#include "cpu/ptx/tree/words.hpp"

namespace cucore::cpu::ptx {

namespace {

/// 0..3 of `.x .y .z .w` or `.r .g .b .a`; -1 for any other word.
std::int8_t component_index(std::string_view word) {
  if (word.size() != 1) return -1;
  for (std::string_view names : {"xyzw", "rgba"}) {
    const std::size_t index = names.find(word.front());
    if (index != std::string_view::npos) return static_cast<std::int8_t>(index);
  }
  return -1;
}

/// `b0`, `h1`, `h32`, `b7531`: the bytes or halves that a video instruction takes of a register.
bool is_selector(std::string_view word) {
  if (word.size() < 2 || word.size() > 5 || (word.front() != 'b' && word.front() != 'h')) return false;
  return word.find_first_not_of("01234567", 1) == std::string_view::npos;
}

}  // namespace

Operand ModuleParser::parse_operand(Opcode opcode) {
  Operand first = parse_primary_operand(opcode);
  if (!token_.is("|")) return first;
  advance();
  Operand pair;
  pair.kind = Operand::Kind::RegisterPair;
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(parse_primary_operand(opcode));
  for (const Operand& half : pair.elements) {
    if (half.kind != Operand::Kind::Register && half.kind != Operand::Kind::Vector &&
        half.kind != Operand::Kind::Sink) {
      report(last_.position, "both sides of '|' must be registers");
    }
  }
  return pair;
}

Operand ModuleParser::parse_primary_operand(Opcode opcode) {
  if (accept("[")) return parse_address();
  if (accept("{")) return parse_list("}", Operand::Kind::Vector);
  if (token_.kind == TokenKind::Identifier && token_.text != "WARP_SZ") {
    if (opcode == Opcode::Bra) {
      // A label may stand further down: it is resolved when its scope ends.
      advance();
      Operand label;
      label.kind = Operand::Kind::Label;
      return label;
    }
    Operand operand = parse_named_operand();
    const bool accesses_memory = opcode == Opcode::Ld || opcode == Opcode::St || opcode == Opcode::Ldu;
    if (operand.kind != Operand::Kind::Sink && accesses_memory && last_.is("]")) {
      // `ld.global.u32 %r, array[2]` means `[array+8]`.
      Operand address;
      address.kind = Operand::Kind::Address;
      address.offset = std::exchange(operand.offset, 0);
      address.elements.push_back(std::move(operand));
      return address;
    }
    return operand;
  }
  if (token_.is("!") || token_.is("-")) {
    Lexer ahead = lexer_;
    const Token next = ahead.next();
    if (next.kind == TokenKind::Identifier && next.text != "WARP_SZ") {
      const Position position = token_.position;
      const bool logical = token_.is("!");
      advance();
      Operand operand = parse_named_operand();
      const bool allowed = logical ? operand.kind == Operand::Kind::Register : opcode == Opcode::Vmad;
      if (!allowed) report(position, quote(logical ? "!" : "-") + " cannot stand before " + quote(next.text));
      operand.negated = true;
      return operand;
    }
  }
  return parse_constant_operand();
}

Operand ModuleParser::parse_constant_operand() {
  const Constant constant = parse_constant();
  Operand operand;
  if (constant.is_integer()) {
    operand.kind = Operand::Kind::Integer;
    operand.integer = constant.bits;
  } else {
    operand.kind = Operand::Kind::Float;
    operand.is_single = constant.kind == Constant::Kind::Single;
    operand.float_bits = constant.bits;
  }
  return operand;
}

Operand ModuleParser::parse_list(std::string_view close, Operand::Kind kind) {
  const Nesting nesting(*this);
  Operand list;
  list.kind = kind;
  if (accept(close)) return list;
  do {
    list.elements.push_back(parse_primary_operand(Opcode::Mov));
  } while (accept(","));
  expect(close);
  return list;
}

Operand ModuleParser::parse_address() {
  const Nesting nesting(*this);
  Operand address;
  address.kind = Operand::Kind::Address;
  if (token_.kind == TokenKind::Identifier && token_.text != "WARP_SZ") {
    advance();
    const Token name = last_;
    Operand base = parse_name_as_operand(name);
    if (base.kind == Operand::Kind::Register) parse_component(base, name);
    parse_offset(address);
    address.elements.push_back(std::move(base));
  } else {
    address.elements.push_back(parse_constant_operand());
  }
  while (accept(",")) address.elements.push_back(parse_primary_operand(Opcode::Mov));
  expect("]");
  return address;
}

void ModuleParser::parse_offset(Operand& operand) {
  const bool subtract = token_.is("-");
  if (!subtract && !token_.is("+")) return;
  advance();
  const std::uint64_t offset = parse_integer_constant("an offset");
  operand.offset = static_cast<std::int64_t>(subtract ? std::uint64_t{0} - offset : offset);
}

Operand ModuleParser::parse_named_operand() {
  advance();
  const Token name = last_;
  Operand operand = parse_name_as_operand(name);
  switch (operand.kind) {
    case Operand::Kind::Register:
    case Operand::Kind::Special:
      parse_component(operand, name);
      break;
    case Operand::Kind::Variable:
      if (accept("[")) return parse_element(operand, name);
      parse_offset(operand);
      break;
    default:
      break;
  }
  return operand;
}

/// The address of an element of `array`, whose `[` has been consumed. As ptxas has it, elements are of the scalar type,
/// whatever the array's vectors and dimensions, and an index that is a register is scaled in 32 bits, without a sign.
Operand ModuleParser::parse_element(Operand array, const Token& name) {
  const bool of_function = array.scope == Operand::Scope::Function;
  const Variable& declared = of_function ? function_->variables[array.variable] : module_.variables[array.variable];
  if (!declared.is_array) report(name.position, quote(name.text) + " is no array");
  const std::uint64_t size = size_in_bytes(declared.type);
  const auto entity =
      token_.kind == TokenKind::Identifier ? scopes_.find(token_.text, function_->registers) : std::nullopt;
  if (!entity || entity->kind != Entity::Kind::Register) {
    array.offset = static_cast<std::int64_t>(parse_integer_constant("an index") * size);
    expect("]");
    return array;
  }
  Operand index = parse_named_operand();
  const Register& declared_index = function_->registers[index.reg];
  const std::size_t bytes = size_in_bytes(declared_index.type);
  if (declared_index.type == Type::Pred || is_float(declared_index.type) || bytes < 2 || bytes > 8) {
    report(last_.position, quote(last_.text) + " cannot be an index");
  }
  const std::uint64_t constant = accept("+") ? parse_integer_constant("what is added to an index") : 0;
  expect("]");
  CodeWriter writer(*function_, last_.position, source_);
  if (bytes != 4)
    index = writer.compute(Opcode::Cvt, {Type::U32, bytes == 2 ? Type::U16 : Type::U64}, {std::move(index)});
  return writer.element_address(address_type(module_), std::move(array), std::move(index), size, constant);
}

/// What `name` stands for, without anything that follows it. An undefined name is reported and becomes a Sink.
Operand ModuleParser::parse_name_as_operand(const Token& name) {
  Operand operand;
  if (name.text == "_") return operand;
  const auto entity = scopes_.find(name.text, function_->registers);
  if (!entity) {
    if (const auto special = find_special_register(name.text)) {
      operand.kind = Operand::Kind::Special;
      operand.special = *special;
    } else {
      report(name.position, "undefined name " + quote(name.text));
    }
    return operand;
  }
  switch (entity->kind) {
    case Entity::Kind::Register:
      operand.kind = Operand::Kind::Register;
      operand.reg = entity->index;
      break;
    case Entity::Kind::FunctionVariable:
    case Entity::Kind::ModuleVariable:
      operand.kind = Operand::Kind::Variable;
      operand.scope =
          entity->kind == Entity::Kind::FunctionVariable ? Operand::Scope::Function : Operand::Scope::Module;
      operand.variable = entity->index;
      break;
    case Entity::Kind::Function:
      operand.kind = Operand::Kind::Function;
      operand.function = entity->index;
      break;
    case Entity::Kind::Label:
      report(name.position, "label " + quote(name.text) + " cannot be an operand here");
      break;
    case Entity::Kind::Prototype:
      operand.kind = Operand::Kind::Prototype;
      operand.integer = entity->index;
      break;
    case Entity::Kind::TargetList:
      operand.kind = Operand::Kind::TargetList;
      operand.integer = entity->index;
      break;
  }
  return operand;
}

void ModuleParser::parse_component(Operand& operand, const Token& name) {
  if (token_.kind != TokenKind::DotWord) return;
  advance();
  const std::int8_t index = component_index(last_.text);
  if (operand.kind == Operand::Kind::Special) {
    if (index < 0 || !is_vector(operand.special)) {
      report(last_.position, quote(name.text) + " has no component '." + std::string(last_.text.substr(0, 80)) + "'");
      return;
    }
    operand.special.axis = static_cast<std::uint8_t>(index);
    operand.component = index;
    return;
  }
  const std::uint8_t width = function_->registers[operand.reg].vector_width;
  if (index >= 0 && index < width && width > 1) {
    operand.component = index;
  } else if (is_selector(last_.text)) {
    operand.selector = last_.text;
  } else {
    report(last_.position, quote(name.text) + " has no component '." + std::string(last_.text.substr(0, 80)) + "'");
  }
}

}  // namespace cucore::cpu::ptx
