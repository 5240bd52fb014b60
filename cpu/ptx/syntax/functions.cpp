// Kernels and functions: signatures, directives, bodies.
#include <limits>
#include <utility>

#include "cpu/ptx/syntax/module_parser.hpp"

namespace cucore::cpu::ptx {

void ModuleParser::parse_shape(std::optional<std::uint32_t> (&shape)[3]) {
  for (auto& extent : shape) extent = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    shape[axis] = expect_number("an extent");
    if (*shape[axis] == 0) report(last_.position, "an extent must not be zero");
    if (axis == 2 || !accept(",")) return;
  }
}

bool ModuleParser::parse_function_directive(PerformanceDirectives& directives) {
  if (accept_dot("maxntid")) {
    parse_shape(directives.maxntid);
  } else if (accept_dot("reqntid")) {
    parse_shape(directives.reqntid);
  } else if (accept_dot("reqnctapercluster")) {
    parse_shape(directives.reqnctapercluster);
  } else if (accept_dot("minnctapersm")) {
    directives.minnctapersm = expect_number("a number of blocks");
  } else if (accept_dot("maxnctapersm")) {
    expect_number("a number of blocks");
  } else if (accept_dot("maxnreg")) {
    directives.maxnreg = expect_number("a number of registers");
  } else if (accept_dot("maxclusterrank")) {
    directives.maxclusterrank = expect_number("a number of blocks");
  } else if (accept_dot("explicitcluster")) {
    directives.explicitcluster = true;
  } else if (accept_dot("blocksareclusters")) {
    directives.blocksareclusters = true;
  } else if (accept_dot("noreturn")) {
    directives.noreturn = true;
  } else if (accept_dot("abi_preserve") || accept_dot("abi_preserve_control")) {
    expect_number("a number of registers");
  } else if (token_.is_dot("pragma")) {
    parse_pragma();
  } else {
    return false;
  }
  return true;
}

void ModuleParser::parse_function(bool is_entry, Linkage linkage, Position position) {
  const char* const begin = token_.text.data();
  // Up to the last token that was consumed.
  const auto text_so_far = [&] {
    return std::string_view(begin, static_cast<std::size_t>(last_.text.data() + last_.text.size() - begin));
  };
  Function declared;
  declared.is_entry = is_entry;
  declared.linkage = linkage;
  if (accept_dot("attribute")) parse_attributes(nullptr);
  const auto add = [&](std::vector<Variable> variables, std::vector<VariableId>& ids) {
    for (Variable& variable : variables) {
      ids.push_back(static_cast<VariableId>(declared.variables.size()));
      declared.variables.push_back(std::move(variable));
    }
  };
  if (!is_entry && token_.is("(")) add(parse_parameters(false), declared.returns);
  declared.position = token_.position;
  declared.name = expect_name("the name of a function");
  if (token_.is("(")) add(parse_parameters(false), declared.parameters);
  for (const VariableId id : declared.parameters) {
    const Variable& parameter = declared.variables[id];
    if (is_entry && parameter.space != Space::Param) {
      report(parameter.position, "kernel parameter " + quote(parameter.name) + " must be in '.param' space");
    }
  }
  while (token_.kind == TokenKind::DotWord) {
    if (!parse_function_directive(declared.directives)) fail_at_token("'{' or ';' after a function's signature");
  }
  if (linkage == Linkage::Common) report(position, "'.common' is for '.global' variables only");
  if (!token_.is("{")) {
    expect(";");
    declared.text = text_so_far();
    declare_function(std::move(declared));
    return;
  }
  declared.has_body = true;
  const FunctionId id = declare_function(std::move(declared));
  parse_body(module_.functions[id]);
  module_.functions[id].text = text_so_far();
}

bool ModuleParser::same_signature(const Function& a, const Function& b) const {
  const auto same = [&](const std::vector<VariableId>& x, const std::vector<VariableId>& y) {
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Variable& p = a.variables[x[i]];
      const Variable& q = b.variables[y[i]];
      const bool same_bits = size_in_bytes(p.type) == size_in_bytes(q.type);
      const bool both_float = (is_float(p.type)) == (is_float(q.type));
      const bool bits = is_bits(p.type) || is_bits(q.type);
      if (p.space != q.space || p.size != q.size || !same_bits || !(both_float || bits)) return false;
    }
    return true;
  };
  return same(a.returns, b.returns) && same(a.parameters, b.parameters);
}

FunctionId ModuleParser::declare_function(Function declared) {
  const auto id = static_cast<FunctionId>(module_.functions.size());
  const std::string_view name = declared.name;
  if (scopes_.declare(name, {Entity::Kind::Function, id})) {
    module_.functions.push_back(std::move(declared));
    return id;
  }
  const auto earlier = scopes_.find_innermost(name);
  if (!earlier || earlier->kind != Entity::Kind::Function) {
    report(declared.position, "redefinition of " + quote(name));
    module_.functions.push_back(std::move(declared));
    return id;
  }
  Function& first = module_.functions[earlier->index];
  if (first.is_entry != declared.is_entry || !same_signature(first, declared)) {
    report(declared.position, "declarations of " + quote(name) + " differ");
  }
  if (first.has_body && declared.has_body) report(declared.position, "redefinition of " + quote(name));
  if (declared.has_body) {
    const bool weaker = declared.linkage == Linkage::Internal;
    if (weaker && first.linkage != Linkage::Extern) declared.linkage = first.linkage;
    first = std::move(declared);
  }
  return earlier->index;
}

void ModuleParser::declare_parameters(Function& function) {
  for (const std::vector<VariableId>* ids : {&function.returns, &function.parameters}) {
    for (const VariableId id : *ids) {
      Variable& parameter = function.variables[id];
      Entity entity{Entity::Kind::FunctionVariable, id};
      if (parameter.space == Space::Reg) {
        parameter.reg = static_cast<RegisterId>(function.registers.size());
        function.registers.push_back({parameter.name, parameter.type, parameter.vector_width});
        entity = {Entity::Kind::Register, parameter.reg};
      }
      if (!scopes_.declare(parameter.name, entity)) {
        report(parameter.position, "redefinition of " + quote(parameter.name));
      }
    }
  }
}

void ModuleParser::parse_body(Function& function) {
  // `function` stays where it is: no function is declared inside another.
  function_ = &function;
  source_ = {};
  scopes_.open();
  declare_parameters(function);
  expect("{");
  parse_block();
  resolve_labels();
  for (const LabelUse& use : scopes_.label_uses()) report(use.position, "undefined label " + quote(use.name));
  scopes_.close();
  function_ = nullptr;
}

}  // namespace cucore::cpu::ptx
