// Textures and surfaces through bindless objects: each instruction is a call of a service, which knows the object.
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;
using M = ptx::Modifier;
using O = ptx::Opcode;
namespace op = texel_operation;

namespace {

std::uint32_t dimensions_of(const Instruction& i) {
  if (i.has(M::D1) || i.has(M::A1D)) return 1;
  return i.has(M::D2) || i.has(M::A2D) ? 2 : 3;  // the direction into a cube has three
}

std::uint32_t geometry_of(const Instruction& i) {
  std::uint32_t bits = dimensions_of(i);
  if (i.has(M::A1D) || i.has(M::A2D) || i.has(M::Acube)) bits |= op::layered;
  if (i.has(M::Cube) || i.has(M::Acube)) bits |= op::cube_bit;
  return bits;
}

/// Words that a service reads or writes, in a slot of the function.
class Words {
 public:
  Words(FunctionEmitter& f, unsigned count, const char* name)
      : f_(f), storage_(f.slot(llvm::ArrayType::get(f.b.getInt32Ty(), count), name, 16)) {}

  Value* address() const { return storage_; }
  Value* at(std::size_t index) const { return f_.b.CreateConstGEP1_64(f_.b.getInt32Ty(), storage_, index); }
  void clear() const { f_.b.CreateStore(llvm::Constant::getNullValue(storage_->getAllocatedType()), storage_); }
  void put(std::size_t index, const Operand& operand, Type type) const {
    f_.b.CreateStore(f_.b.CreateBitCast(f_.source(operand, type), f_.b.getInt32Ty()), at(index));
  }

 private:
  FunctionEmitter& f_;
  llvm::AllocaInst* storage_;
};

constexpr std::size_t word_of(std::size_t offset) { return offset / sizeof(std::uint32_t); }

/// What follows the object: the layer, if the geometry has one, then the coordinates.
void put_coordinates(FunctionEmitter& f, const Instruction& i, const Operand& address, const Words& to,
                     std::size_t layer_word, Type type) {
  const std::vector<Operand> given = f.elements(address.elements[1]);
  std::size_t next = 0;
  if ((geometry_of(i) & op::layered) != 0 && !given.empty()) to.put(layer_word, given[next++], Type::U32);
  for (std::uint32_t axis = 0; axis < dimensions_of(i) && next < given.size(); ++axis)
    to.put(axis, given[next++], type);
}

void put_vector(FunctionEmitter& f, const Instruction& i, const Operand& vector, const Words& to, std::size_t first,
                Type type) {
  const std::vector<Operand> given = f.elements(vector);
  for (std::size_t axis = 0; axis < dimensions_of(i) && axis < given.size(); ++axis) {
    to.put(first + axis, given[axis], type);
  }
}

Value* object_of(FunctionEmitter& f, const Operand& address) { return f.source(address.elements[0], Type::U64); }

}  // namespace

/// tex and tld4
void emit_texture_fetch(FunctionEmitter& f, const Instruction& i) {
  const Type result = i.types[0];
  const Operand& address = i.operands[1];
  const Words request(f, texel_request_words, "request");
  const Words texel(f, 4, "texel");
  request.clear();
  put_coordinates(f, i, address, request, word_of(offsetof(TexelRequest, layer)), i.types[1]);

  std::uint32_t operation = geometry_of(i);
  if (i.types[1] == Type::S32) operation |= op::integer_coordinates;
  if (result == Type::F16 || result == Type::F16x2) operation |= op::half_result;
  if (i.opcode == O::Tld4) {
    const std::uint32_t channel = i.has(M::R) ? 0 : i.has(M::G) ? 1 : i.has(M::B) ? 2 : 3;
    operation |= op::gather_bit | channel << op::channel_shift;
  }
  std::size_t next = 2;
  if (i.has(M::Level)) {
    operation |= op::level_bit;
    // Integer coordinates come with an integer level.
    Value* level = f.source(i.operands[next++], i.types[1]);
    if (i.types[1] == Type::S32) level = f.b.CreateSIToFP(level, f.b.getFloatTy());
    f.b.CreateStore(level, request.at(word_of(offsetof(TexelRequest, level))));
  } else if (i.has(M::Grad)) {
    operation |= op::gradient;
    put_vector(f, i, i.operands[next++], request, word_of(offsetof(TexelRequest, gradients)), Type::F32);
    put_vector(f, i, i.operands[next++], request, word_of(offsetof(TexelRequest, gradients)) + 3, Type::F32);
  }
  if (next < i.operands.size()) {
    put_vector(f, i, i.operands[next], request, word_of(offsetof(TexelRequest, offsets)), Type::S32);
  }
  f.call("cucpu_texture_fetch", f.b.getVoidTy(),
         {f.thread(), object_of(f, address), f.b.getInt32(operation), request.address(), texel.address()});

  const Operand& to = i.operands[0];
  const bool pair = to.kind == Operand::Kind::RegisterPair;
  const std::vector<Operand> elements = f.elements(pair ? to.elements[0] : to);
  for (std::size_t e = 0; e < elements.size(); ++e) {
    if (result == Type::F16x2) {
      Value* low = f.b.CreateLoad(f.b.getInt32Ty(), texel.at(2 * e));
      Value* high = f.b.CreateShl(f.b.CreateLoad(f.b.getInt32Ty(), texel.at(2 * e + 1)), 16);
      f.define(elements[e], f.b.CreateOr(low, high), result);
    } else {
      f.define(elements[e], f.b.CreateLoad(f.type_of(result), texel.at(e)), result);
    }
  }
  if (pair) f.define(to.elements[1], f.b.getTrue(), Type::Pred);  // every texel is resident: no sparse arrays here
}

/// suld, sust and sured
void emit_surface_access(FunctionEmitter& f, const Instruction& i) {
  const bool loads = i.opcode == O::Suld;
  const Operand& address = i.operands[loads ? 1 : 0];
  const std::vector<Operand> data = f.elements(i.operands[loads ? 0 : 1]);
  const std::size_t bytes = size_in_bytes(i.type());
  const Words coordinates(f, 4, "coordinates");
  const Words buffer(f, 4, "data");
  coordinates.clear();
  put_coordinates(f, i, address, coordinates, 3, Type::S32);

  std::uint32_t operation = geometry_of(i) | static_cast<std::uint32_t>(bytes * data.size()) << op::bytes_shift;
  if (i.has(M::P)) operation |= op::formatted_bit;
  if (i.has(M::Clamp)) operation |= op::clamp_bit;
  if (i.has(M::Zero)) operation |= op::zero_bit;
  if (i.opcode == O::Sust) operation |= op::store_bit;
  if (i.opcode == O::Sured) {
    const std::uint32_t reduction = i.has(M::Add) ? 0 : i.has(M::Min) ? 1 : i.has(M::Max) ? 2 : i.has(M::And) ? 3 : 4;
    operation |= op::reduce_bit | reduction << op::reduction_shift;
    if (is_signed(i.type())) operation |= op::signed_bit;
  }
  const auto element = [&](std::size_t e) {
    return f.b.CreateConstGEP1_64(f.b.getInt8Ty(), buffer.address(), bytes * e);
  };
  if (!loads) {
    for (std::size_t e = 0; e < data.size(); ++e) f.b.CreateStore(f.source(data[e], i.type()), element(e));
  }
  f.call("cucpu_surface_access", f.b.getVoidTy(),
         {f.thread(), object_of(f, address), f.b.getInt32(operation), coordinates.address(), buffer.address()});
  if (!loads) return;
  for (std::size_t e = 0; e < data.size(); ++e) {
    f.define(data[e], f.b.CreateLoad(f.type_of(i.type()), element(e)), i.type());
  }
}

/// txq and suq
void emit_texel_query(FunctionEmitter& f, const Instruction& i) {
  constexpr std::pair<M, TexelQuery> queries[] = {
      {M::Width, TexelQuery::Width},
      {M::Height, TexelQuery::Height},
      {M::Depth, TexelQuery::Depth},
      {M::ChannelDataType, TexelQuery::ChannelDataType},
      {M::ChannelOrder, TexelQuery::ChannelOrder},
      {M::NormalizedCoords, TexelQuery::NormalizedCoords},
      {M::ArraySize, TexelQuery::ArraySize},
      {M::NumMipmapLevels, TexelQuery::NumMipmapLevels},
      {M::NumSamples, TexelQuery::NumSamples},
      {M::ForceUnnormalizedCoords, TexelQuery::ForceUnnormalizedCoords},
      {M::FilterMode, TexelQuery::FilterMode},
      {M::AddrMode0, TexelQuery::AddrMode0},
      {M::AddrMode1, TexelQuery::AddrMode1},
      {M::AddrMode2, TexelQuery::AddrMode2},
      {M::MemoryLayout, TexelQuery::MemoryLayout},
  };
  TexelQuery query{};
  for (const auto& [modifier, value] : queries) {
    if (i.has(modifier)) query = value;
  }
  Value* level = i.has(M::Level) ? f.source(i.operands[2], Type::U32) : f.b.getInt32(0);
  Value* answer = f.call("cucpu_texel_query", f.b.getInt32Ty(),
                         {f.thread(), object_of(f, i.operands[1]), f.b.getInt32(i.opcode == O::Suq ? 1 : 0),
                          f.b.getInt32(static_cast<std::uint32_t>(query)), level});
  f.define(i.operands[0], answer, Type::B32);
}

}  // namespace cucore::cpu::compiler
