// How registers and constants match types: ptxas lets an untyped register (.b32) stand for any type of its size, treats
// signed and unsigned alike, and lets memory accesses and conversions use wider registers than the type.
#include "cpu/ptx/checks/operand_checks.hpp"

#include <algorithm>
#include <utility>

namespace cucore::cpu::ptx {

namespace {

enum class Width : std::uint8_t { Exact, AtLeast };

std::string dotted(Type type) { return "'." + std::string(spelling(type)) + "'"; }

bool fits(Type declared, Type needed, Width width) {
  if (needed == Type::Pred || declared == Type::Pred) return needed == declared;
  const std::size_t have = size_in_bytes(declared);
  const std::size_t want = size_in_bytes(needed);
  if (width == Width::Exact ? have != want : have < want) return false;
  // ptxas takes an .f16x2 register for an untyped one.
  if (is_bits(declared) || is_bits(needed) || declared == Type::F16x2) return true;
  if (is_integer(needed)) return is_integer(declared);
  return declared == needed;
}

Result<void> check_register(const Function& function, const Operand& operand, Type needed, Width width) {
  const Register& declared = function.registers[operand.reg];
  if (!operand.selector.empty()) return invalid("only video instructions select bytes or halves");
  if (declared.vector_width > 1 && operand.component < 0)
    return invalid("a vector register cannot stand here as a whole");
  if (fits(declared.type, needed, width)) return {};
  return invalid("register '" + std::string(declared.name) + "' of type " + dotted(declared.type) +
                 " does not match type " + dotted(needed));
}

Result<void> check_constant(const Operand& operand, Type needed) {
  const bool integer = operand.kind == Operand::Kind::Integer;
  if (is_half(needed) || is_packed_half(needed) || is_packed_integer(needed) || needed == Type::F32x2) {
    return invalid("a constant cannot be of type " + dotted(needed));
  }
  if (integer && (needed == Type::F32 || needed == Type::F64)) {
    return invalid("an integer constant does not match type " + dotted(needed));
  }
  if (!integer && (is_integer(needed) || needed == Type::Pred)) {
    return invalid("a floating-point constant does not match type " + dotted(needed));
  }
  return {};
}

std::string_view describe(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::Register:
      return "a register";
    case Operand::Kind::RegisterPair:
      return "a pair of registers";
    case Operand::Kind::Integer:
    case Operand::Kind::Float:
      return "a constant";
    case Operand::Kind::Special:
      return "a special register";
    case Operand::Kind::Variable:
      return "a variable";
    case Operand::Kind::Function:
      return "a function";
    case Operand::Kind::Label:
      return "a label";
    case Operand::Kind::Address:
      return "an address";
    case Operand::Kind::Vector:
      return "a vector";
    case Operand::Kind::List:
      return "a list";
    case Operand::Kind::Sink:
      return "'_'";
    case Operand::Kind::Prototype:
      return "a call prototype";
    case Operand::Kind::TargetList:
      return "a list of targets";
  }
  return "";
}

Failure not_allowed(const Operand& operand) { return invalid(std::string(describe(operand)) + " cannot stand here"); }

Result<void> check_destination(const Function& function, const Operand& operand, Type needed, Width width) {
  if (operand.kind != Operand::Kind::Register) return not_allowed(operand);
  if (operand.negated) return invalid("a destination cannot be negated");
  return check_register(function, operand, needed, width);
}

Result<void> check_source(const Function& function, const Operand& operand, Type needed, Width width) {
  switch (operand.kind) {
    case Operand::Kind::Register:
      return check_register(function, operand, needed, width);
    case Operand::Kind::Integer:
    case Operand::Kind::Float:
      return check_constant(operand, needed);
    default:
      return not_allowed(operand);
  }
}

/// `d|p` where `d` is of type `first`; either half may be a sink.
Result<void> check_pair(const Function& function, const Operand& pair, Type first) {
  const Type needed[2] = {first, Type::Pred};
  for (std::size_t i = 0; i < 2; ++i) {
    const Operand& half = pair.elements[i];
    if (half.kind == Operand::Kind::Sink) continue;
    if (Result<void> checked = check_destination(function, half, needed[i], Width::Exact); !checked) return checked;
  }
  return {};
}

/// The type of the wide operands of mul and mad.
Type widened(const Instruction& instruction) {
  return instruction.has(Modifier::Wide) ? doubled(instruction.type()) : instruction.type();
}

/// The untyped equivalent: of the elements of a vector ptxas checks the size only.
Type untyped(Type type) { return untyped_of(size_in_bytes(type)).value_or(type); }

/// A register or vector that a memory access reads into or writes from.
Result<void> check_data(const Function& function, const Instruction& instruction, const Operand& operand,
                        bool is_destination, Width width) {
  const auto check_one = [&](const Operand& element, Type type) -> Result<void> {
    if (element.kind == Operand::Kind::Sink && (is_destination || operand.kind == Operand::Kind::Vector)) return {};
    return is_destination ? check_destination(function, element, type, width)
                          : check_source(function, element, type, width);
  };
  if (operand.kind == Operand::Kind::Vector) {
    if (operand.elements.size() != instruction.vector_width) {
      return invalid("a vector of " + std::to_string(operand.elements.size()) + " does not match '.v" +
                     std::to_string(instruction.vector_width) + "'");
    }
    for (const Operand& element : operand.elements) {
      const bool is_register = element.kind == Operand::Kind::Register;
      const Type type = is_register ? untyped(instruction.type()) : instruction.type();
      if (Result<void> checked = check_one(element, type); !checked) return checked;
    }
    return {};
  }
  const bool whole_vector = operand.kind == Operand::Kind::Register && operand.component < 0 &&
                            function.registers[operand.reg].vector_width == instruction.vector_width;
  if (instruction.vector_width > 1 && !whole_vector) return invalid("a vector is needed here");
  if (instruction.vector_width > 1) return {};
  return check_one(operand, instruction.type());
}

Result<void> check_address(const Function& function, const Operand& operand) {
  if (operand.kind != Operand::Kind::Address) return not_allowed(operand);
  const Operand& base = operand.elements.front();
  if (base.kind == Operand::Kind::Register) {
    const Type type = function.registers[base.reg].type;
    if (is_float(type) || type == Type::Pred) return invalid("an address must be in an integer register");
  }
  return {};
}

Result<void> check_count(const Instruction& instruction, std::size_t least, std::size_t most) {
  const std::size_t count = instruction.operands.size();
  if (count >= least && count <= most) return {};
  const std::string range =
      least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
  return invalid("takes " + range + " operands, not " + std::to_string(count));
}

/// As many operands, and one type.
Result<void> check_shape(const Instruction& instruction, std::size_t least, std::size_t most) {
  if (Result<void> counted = check_count(instruction, least, most); !counted) return counted;
  if (instruction.types.size() != 1) return invalid("needs one type");
  return {};
}

Result<void> check_load(const Function& function, const Instruction& instruction) {
  if (Result<void> shaped = check_shape(instruction, 2, 4); !shaped) return shaped;
  const Operand& destination = instruction.operands[0];
  if (destination.kind == Operand::Kind::Sink) return at_operand(0, not_allowed(destination));
  Result<void> data = check_data(function, instruction, destination, true, Width::AtLeast);
  if (!data) return at_operand(0, std::move(data));
  return at_operand(1, check_address(function, instruction.operands[1]));
}

Result<void> check_store(const Function& function, const Instruction& instruction) {
  if (instruction.has(Modifier::Async) || instruction.has(Modifier::Bulk)) return {};
  if (Result<void> shaped = check_shape(instruction, 2, 3); !shaped) return shaped;
  if (Result<void> address = check_address(function, instruction.operands[0]); !address)
    return at_operand(0, std::move(address));
  return at_operand(1, check_data(function, instruction, instruction.operands[1], false, Width::AtLeast));
}

Result<void> check_atomic(const Function& function, const Instruction& instruction) {
  if (instruction.has(Modifier::Async)) return {};
  const bool returns = instruction.opcode == Opcode::Atom;
  const std::size_t least = (returns ? 3U : 2U) + (instruction.has(Modifier::Cas) ? 1U : 0U);
  if (Result<void> shaped = check_shape(instruction, least, least + 1); !shaped) return shaped;
  std::size_t index = 0;
  if (returns) {
    Result<void> old = check_data(function, instruction, instruction.operands[0], true, Width::Exact);
    if (!old) return at_operand(0, std::move(old));
    index = 1;
  }
  if (Result<void> address = check_address(function, instruction.operands[index]); !address)
    return at_operand(index, std::move(address));
  if (is_half(instruction.type()) || is_packed_half(instruction.type())) return {};
  ++index;
  return at_operand(index, check_data(function, instruction, instruction.operands[index], false, Width::Exact));
}

/// The bytes of all elements of a vector operand of mov; 0 if that is not known.
std::size_t vector_bytes(const Function& function, const Operand& vector) {
  std::size_t element = 0;
  for (const Operand& operand : vector.elements) {
    if (operand.kind == Operand::Kind::Register) {
      element = std::max(element, size_in_bytes(function.registers[operand.reg].type));
    }
  }
  return element * vector.elements.size();
}

Result<void> check_moved(const Function& function, const Operand& operand, Type type, bool is_destination) {
  switch (operand.kind) {
    case Operand::Kind::Vector: {
      const std::size_t bytes = vector_bytes(function, operand);
      if (is_bits(type) && (bytes == 0 || bytes == size_in_bytes(type))) return {};
      return invalid("a vector of these registers does not match type " + dotted(type));
    }
    case Operand::Kind::Special:
      if (is_destination) return not_allowed(operand);
      return {};
    case Operand::Kind::Variable:
    case Operand::Kind::Function:
      if (is_destination || is_float(type) || type == Type::Pred) return not_allowed(operand);
      return {};
    default:
      return is_destination ? check_destination(function, operand, type, Width::Exact)
                            : check_source(function, operand, type, Width::Exact);
  }
}

Result<void> check_move(const Function& function, const Instruction& instruction) {
  if (Result<void> shaped = check_shape(instruction, 2, 2); !shaped) return shaped;
  const Type type = instruction.type();
  if (Result<void> to = check_moved(function, instruction.operands[0], type, true); !to)
    return at_operand(0, std::move(to));
  return at_operand(1, check_moved(function, instruction.operands[1], type, false));
}

Result<void> check_conversion(const Function& function, const Instruction& instruction) {
  if (instruction.types.size() < 2) return invalid("needs two types");
  if (Result<void> counted = check_count(instruction, 2, 5); !counted) return counted;
  // Formats that pack several values have forms of their own, with more operands.
  if (instruction.operands.size() != 2 || instruction.types.size() != 2) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    const Operand& operand = instruction.operands[i];
    const Type type = instruction.types[i];
    if (i == 1 && operand.kind == Operand::Kind::Special) continue;
    if (operand.kind == Operand::Kind::Vector) continue;
    Result<void> checked = i == 0 ? check_destination(function, operand, type, Width::AtLeast)
                                  : check_source(function, operand, type, Width::AtLeast);
    if (!checked) return at_operand(i, std::move(checked));
  }
  return {};
}

Result<void> check_address_conversion(const Function& function, const Instruction& instruction) {
  if (Result<void> counted = check_count(instruction, 2, 2); !counted) return counted;
  const Type type = instruction.type();
  if (type != Type::U32 && type != Type::U64) return invalid("needs type '.u32' or '.u64'");
  Result<void> result = check_destination(function, instruction.operands[0], type, Width::Exact);
  if (!result) return at_operand(0, std::move(result));
  const Operand& source = instruction.operands[1];
  if (source.kind == Operand::Kind::Variable || source.kind == Operand::Kind::Function) return {};
  return at_operand(1, check_source(function, source, type, Width::Exact));
}

Result<void> check_barrier(const Function& function, const Instruction& instruction) {
  if (instruction.has(Modifier::Cluster)) return check_count(instruction, 0, 0);
  if (instruction.has(Modifier::Red)) return check_count(instruction, 3, 4);
  const bool of_warp = instruction.has(Modifier::Warp);
  const bool arrives = !of_warp && instruction.has(Modifier::Arrive);
  if (Result<void> counted = check_count(instruction, arrives ? 2 : 1, of_warp ? 1 : 2); !counted) return counted;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    Result<void> source = check_source(function, instruction.operands[i], Type::U32, Width::Exact);
    if (!source) return at_operand(i, std::move(source));
  }
  return {};
}

Result<void> check_arguments(const Function& caller, const std::vector<Operand>& arguments,
                             const std::vector<const Variable*>& parameters, std::string_view what) {
  const bool variadic = !parameters.empty() && parameters.back()->is_array && parameters.back()->size == 0;
  if (arguments.size() != parameters.size() && !(variadic && arguments.size() + 1 >= parameters.size())) {
    return invalid("has " + std::to_string(arguments.size()) + " " + std::string(what) + ", but the function has " +
                   std::to_string(parameters.size()));
  }
  for (std::size_t i = 0; i < arguments.size() && i < parameters.size(); ++i) {
    if (arguments[i].kind != Operand::Kind::Register || parameters[i]->is_array) continue;
    const Register& declared = caller.registers[arguments[i].reg];
    const bool scalar = declared.vector_width == 1 && parameters[i]->vector_width == 1;
    if (!scalar || size_in_bytes(declared.type) >= size_in_bytes(parameters[i]->type)) {
      const bool same_kind = fits(declared.type, parameters[i]->type, Width::AtLeast);
      const bool same_size = size_in_bytes(declared.type) == size_in_bytes(parameters[i]->type);
      if (!scalar || (same_kind && (same_size || size_in_bytes(parameters[i]->type) < 4))) continue;
    }
    return invalid("has register '" + std::string(declared.name) + "' of type " + dotted(declared.type) +
                   " where the function has type " + dotted(parameters[i]->type));
  }
  return {};
}

Result<void> check_call(const Module& module, const Function& caller, const Instruction& instruction) {
  std::vector<const Variable*> returns;
  std::vector<const Variable*> parameters;
  const Operand& callee = instruction.operands[1];
  if (callee.kind == Operand::Kind::Function) {
    const Function& function = module.functions[callee.function];
    for (const VariableId id : function.returns) returns.push_back(&function.variables[id]);
    for (const VariableId id : function.parameters) parameters.push_back(&function.variables[id]);
  } else if (instruction.operands.size() < 4) {
    return invalid("calls through a register and needs a call prototype or a list of call targets");
  } else if (instruction.operands[3].kind == Operand::Kind::Prototype) {
    const Prototype& prototype = caller.prototypes[instruction.operands[3].integer];
    for (const Variable& variable : prototype.returns) returns.push_back(&variable);
    for (const Variable& variable : prototype.parameters) parameters.push_back(&variable);
  } else {
    return {};
  }
  Result<void> results = check_arguments(caller, instruction.operands[0].elements, returns, "results");
  if (!results) return results;
  return check_arguments(caller, instruction.operands[2].elements, parameters, "arguments");
}

}  // namespace

Failure invalid(std::string what) { return Failure(ErrorCode::InvalidPtx, std::move(what)); }

Result<void> at_operand(std::size_t index, Result<void> checked) {
  if (checked) return checked;
  return invalid("has a bad operand " + std::to_string(index + 1) + ": " + checked.failure().sentence());
}

Result<void> check_operand(const Function& function, const Instruction& instruction, const Operand& operand,
                           char rule) {
  const Type last = instruction.type();
  const Type first = instruction.types.empty() ? Type::None : instruction.types.front();
  switch (rule) {
    case 'd':
      return check_destination(function, operand, last, Width::Exact);
    case 's':
      return check_source(function, operand, last, Width::Exact);
    case 'D':
      return check_destination(function, operand, first, Width::Exact);
    case 'S':
      return check_source(function, operand, first, Width::Exact);
    case 'w':
      return check_destination(function, operand, widened(instruction), Width::Exact);
    case 'W':
      return check_source(function, operand, widened(instruction), Width::Exact);
    case 'U':
      return check_destination(function, operand, Type::U32, Width::Exact);
    case 'u':
      return check_source(function, operand, Type::U32, Width::Exact);
    case 'L':
      return operand.kind == Operand::Kind::RegisterPair ? check_pair(function, operand, last)
                                                         : check_destination(function, operand, last, Width::Exact);
    case 'x':
      return check_source(function, operand, Type::B32, Width::Exact);
    case 'P':
      return check_destination(function, operand, Type::Pred, Width::Exact);
    case 'Q':
      if (operand.kind == Operand::Kind::Sink) return {};
      return operand.kind == Operand::Kind::RegisterPair
                 ? check_pair(function, operand, Type::Pred)
                 : check_destination(function, operand, Type::Pred, Width::Exact);
    case 'p':
      return check_source(function, operand, Type::Pred, Width::Exact);
    case 'V':
    case 'v': {
      Operand whole = operand;
      whole.selector = {};  // read_video_form() checks what may be selected
      return rule == 'V' ? check_destination(function, whole, Type::U32, Width::Exact)
                         : check_source(function, whole, Type::U32, Width::Exact);
    }
    case 'i':
      if (operand.kind != Operand::Kind::Integer) return not_allowed(operand);
      return {};
    default:
      return {};
  }
}

Result<void> check_operands(const Module& module, const Function& function, const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Mov:
      return check_move(function, instruction);
    case Opcode::Cvt:
      return check_conversion(function, instruction);
    case Opcode::Cvta:
      return check_address_conversion(function, instruction);
    case Opcode::Ld:
    case Opcode::Ldu:
      return check_load(function, instruction);
    case Opcode::St:
      return check_store(function, instruction);
    case Opcode::Atom:
    case Opcode::Red:
      return check_atomic(function, instruction);
    case Opcode::Bar:
    case Opcode::Barrier:
      return check_barrier(function, instruction);
    case Opcode::Call:
      return check_call(module, function, instruction);
    default:
      return {};
  }
}

}  // namespace cucore::cpu::ptx
