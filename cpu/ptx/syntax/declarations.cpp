// Declarations: variables, registers and parameters.
#include <limits>
#include <string>
#include <utility>

#include "cpu/ptx/syntax/module_parser.hpp"
#include "cpu/ptx/tree/words.hpp"

namespace cucore::cpu::ptx {

namespace {

std::optional<Space> find_space(std::string_view word) {
  if (word == "shared::cluster") return std::nullopt;  // an address may say so, a declaration may not
  const auto meaning = find_dot_word(word);
  if (!meaning || meaning->kind != DotWordMeaning::Kind::Space) return std::nullopt;
  return meaning->space;
}

/// Types that only instructions name: variables of these formats are declared as bits.
bool is_fundamental(Type type) {
  switch (type) {
    case Type::Pred:
    case Type::B8:
    case Type::B16:
    case Type::B32:
    case Type::B64:
    case Type::B128:
    case Type::U8:
    case Type::U16:
    case Type::U32:
    case Type::U64:
    case Type::S8:
    case Type::S16:
    case Type::S32:
    case Type::S64:
    case Type::F16:
    case Type::F16x2:
    case Type::F32:
    case Type::F64:
    case Type::Texref:
    case Type::Samplerref:
    case Type::Surfref:
      return true;
    default:
      return false;
  }
}

bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

bool ModuleParser::parse_declaration_word(DeclarationHead& head, bool is_parameter, bool& has_alignment) {
  Variable& variable = head.variable;
  if (accept_dot("align")) {
    variable.alignment = expect_number("an alignment");
    has_alignment = true;
    if (!is_power_of_two(variable.alignment)) {
      report(last_.position, "alignment " + quote(last_.text) + " is not a power of two");
      variable.alignment = 1;
    }
    return true;
  }
  if (accept_dot("attribute")) {
    parse_attributes(&variable);
    return true;
  }
  if (is_parameter && accept_dot("ptr")) {
    parse_pointer_words(variable);
    return true;
  }
  const auto meaning = find_dot_word(token_.text);
  if (!meaning) return false;
  if (meaning->kind == DotWordMeaning::Kind::VectorWidth) {
    variable.vector_width = meaning->vector_width;
  } else if (meaning->kind == DotWordMeaning::Kind::Type) {
    if (variable.type != Type::None) return false;
    variable.type = meaning->type;
  } else {
    return false;
  }
  advance();
  return true;
}

void ModuleParser::parse_pointer_words(Variable& variable) {
  variable.is_pointer = true;
  if (token_.kind == TokenKind::DotWord) {
    if (const auto space = find_space(token_.text)) {
      variable.pointer_space = *space;
      advance();
    }
  }
  if (accept_dot("align")) variable.pointer_alignment = expect_number("an alignment");
}

ModuleParser::DeclarationHead ModuleParser::parse_declaration_head(Space space, bool is_parameter) {
  DeclarationHead head;
  head.position = token_.position;
  head.variable.space = space;
  bool has_alignment = false;
  while (token_.kind == TokenKind::DotWord) {
    if (!parse_declaration_word(head, is_parameter, has_alignment)) {
      fail(token_.position, "unexpected '." + std::string(token_.text.substr(0, 80)) + "' in a declaration");
    }
  }
  Variable& variable = head.variable;
  if (variable.type == Type::None) fail_at_token("the type of a variable");
  if (!is_fundamental(variable.type)) {
    report(head.position, "nothing can be declared with type '." + std::string(spelling(variable.type)) + "'");
  }
  const std::size_t bytes = size_in_bytes(variable.type) * variable.vector_width;
  if (variable.vector_width > 4 || (variable.vector_width > 1 && (bytes > 16 || bytes == 0))) {
    report(head.position, "a vector of " + std::to_string(variable.vector_width) + " '." +
                              std::string(spelling(variable.type)) + "' is larger than 128 bits or not allowed");
  }
  if (!has_alignment && bytes != 0) variable.alignment = static_cast<std::uint32_t>(bytes);
  return head;
}

void ModuleParser::parse_dimensions(Variable& variable) {
  while (accept("[")) {
    variable.is_array = true;
    if (accept("]")) {
      if (!variable.dimensions.empty()) fail(last_.position, "only the first dimension of an array may be left open");
      variable.dimensions.push_back(0);
      continue;
    }
    variable.dimensions.push_back(parse_integer_constant("the length of an array"));
    expect("]");
  }
}

void ModuleParser::finish_size(Variable& variable) {
  std::uint64_t size = size_in_bytes(variable.type) * variable.vector_width;
  for (const std::uint64_t dimension : variable.dimensions) {
    if (dimension != 0 && size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / dimension) {
      report(variable.position, "variable " + quote(variable.name) + " is too large");
      size = 0;
      break;
    }
    size *= dimension;
  }
  variable.size = size;
}

void ModuleParser::check_variable(const Variable& variable, bool in_function) {
  const std::string name = quote(variable.name);
  if (variable.type == Type::Pred) {
    report(variable.position, "predicate variable " + name + " must be a register");
    return;
  }
  if (is_opaque(variable.type) && variable.space != Space::Global && variable.space != Space::Param) {
    report(variable.position, "variable " + name + " of opaque type must be in '.global' or '.param' space");
    return;
  }
  const bool open = variable.size == 0 && !is_opaque(variable.type);
  if (open && variable.linkage != Linkage::Extern && variable.space != Space::Param) {
    report(variable.position, "array " + name + " has no length and is not '.extern'");
  }
  if (!variable.initial.empty() || !variable.relocations.empty()) {
    if (variable.space != Space::Global && variable.space != Space::Const) {
      report(variable.position,
             "variable " + name + " in '." + std::string(spelling(variable.space)) + "' space cannot be initialised");
    } else if (variable.linkage == Linkage::Extern) {
      report(variable.position, "'.extern' variable " + name + " cannot be initialised");
    }
  }
  if (in_function && variable.linkage != Linkage::Internal) {
    report(variable.position, "variable " + name + " of a function cannot have linkage");
  }
}

void ModuleParser::declare_variable(Variable variable, bool in_function) {
  check_variable(variable, in_function);
  const bool of_function = in_function && variable.space != Space::Global && variable.space != Space::Const;
  std::vector<Variable>& table = of_function ? function_->variables : module_.variables;
  const Entity entity{of_function ? Entity::Kind::FunctionVariable : Entity::Kind::ModuleVariable,
                      static_cast<std::uint32_t>(table.size())};
  const std::string_view name = variable.name;
  if (scopes_.declare(name, entity)) {
    // Before PTX ISA 1.4 kernels had no list of parameters: those are declared in the body.
    if (of_function && variable.space == Space::Param && function_->is_entry && module_.version.major == 1 &&
        module_.version.minor < 4)
      function_->parameters.push_back(entity.index);
    table.push_back(std::move(variable));
    return;
  }
  // The one redeclaration there is: `.extern` before or after the definition.
  const auto earlier = scopes_.find_innermost(name);
  if (!in_function && earlier && earlier->kind == Entity::Kind::ModuleVariable) {
    Variable& first = module_.variables[earlier->index];
    const bool same =
        first.space == variable.space && first.type == variable.type && first.vector_width == variable.vector_width;
    if (same && variable.linkage == Linkage::Extern) return;
    if (same && first.linkage == Linkage::Extern) {
      first = std::move(variable);
      return;
    }
  }
  report(variable.position, "redefinition of " + quote(name));
}

void ModuleParser::declare_numbered_variables(Variable variable, bool in_function) {
  constexpr std::size_t most = 65536;  // of a module; each is made at once, which registers are not
  const std::string prefix(variable.name);
  const std::uint32_t count = expect_number("a number of variables");
  if (count > most - module_.made_names.size())
    fail(last_.position, "more than " + std::to_string(most) + " variables are declared by number");
  expect(">");
  finish_size(variable);
  for (std::uint32_t i = 0; i < count; ++i) {
    variable.name = module_.made_names.emplace_back(prefix + std::to_string(i));
    declare_variable(variable, in_function);
  }
}

void ModuleParser::parse_variables(Linkage linkage, const Variable& attributes) {
  const auto space = token_.is_dot("tex") ? std::optional(Space::Tex) : find_space(token_.text);
  const Token space_word = token_;
  advance();
  const bool in_function = function_ != nullptr;
  if (!space || *space == Space::Tex || (*space == Space::Param && !in_function)) {
    fail(space_word.position, "variables cannot be declared in '." + std::string(space_word.text) + "' space here");
  }
  DeclarationHead head = parse_declaration_head(*space, false);
  head.variable.linkage = linkage;
  head.variable.managed = head.variable.managed || attributes.managed;
  do {
    Variable variable = head.variable;
    variable.position = token_.position;
    variable.name = expect_name("the name of a variable");
    if (accept("<")) {
      declare_numbered_variables(std::move(variable), in_function);
      continue;
    }
    parse_dimensions(variable);
    finish_size(variable);
    if (accept("=")) parse_initialiser(variable);
    declare_variable(std::move(variable), in_function);
  } while (accept(","));
  expect(";");
}

void ModuleParser::parse_registers() {
  const DeclarationHead head = parse_declaration_head(Space::Reg, false);
  const Type type = head.variable.type;
  if (is_opaque(type)) report(head.position, "a register cannot be of opaque type");
  do {
    const Token name = expect_kind(TokenKind::Identifier, "the name of a register");
    if (name.text == "WARP_SZ") fail(name.position, "'WARP_SZ' is a constant and cannot be declared");
    bool is_new = true;
    if (accept("<")) {
      const Token count = expect_kind(TokenKind::Integer, "a number of registers");
      expect(">");
      is_new = scopes_.declare(RegisterRange{name.text, count.value, type, head.variable.vector_width});
    } else {
      const auto id = static_cast<std::uint32_t>(function_->registers.size());
      is_new = scopes_.declare(name.text, {Entity::Kind::Register, id});
      function_->registers.push_back({name.text, type, head.variable.vector_width});
    }
    if (!is_new) report(name.position, "redefinition of " + quote(name.text));
  } while (accept(","));
  expect(";");
}

std::vector<Variable> ModuleParser::parse_parameters(bool is_prototype) {
  std::vector<Variable> parameters;
  expect("(");
  if (accept(")")) return parameters;
  do {
    const bool in_register = accept_dot("reg");
    if (!in_register && !accept_dot("param")) fail_at_token("'.param' or '.reg' of a parameter");
    DeclarationHead head = parse_declaration_head(in_register ? Space::Reg : Space::Param, true);
    Variable parameter = std::move(head.variable);
    parameter.position = token_.position;
    parameter.name = expect_name("the name of a parameter");
    parse_dimensions(parameter);
    finish_size(parameter);
    if (!in_register && parameter.type == Type::Pred) check_variable(parameter, false);
    if (parameter.name == "_" && !is_prototype) report(parameter.position, "a parameter needs a name");
    parameters.push_back(std::move(parameter));
  } while (accept(","));
  expect(")");
  return parameters;
}

}  // namespace cucore::cpu::ptx
