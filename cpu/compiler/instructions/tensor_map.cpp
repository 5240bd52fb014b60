// tensormap: fields of a tensor map replaced by kernels, and a map copied to where copies find it.
#include <cstddef>

#include "cpu/abi/tensor_map_contents.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Instruction;
using ptx::Space;
using ptx::Type;
using M = ptx::Modifier;

namespace {

constexpr std::uint32_t map_bytes = 128;

/// Bytes of an element of each TensorElement.
constexpr std::uint8_t element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
/// PTX numbers the types of elements otherwise than the driver API: .f32.ftz comes before .f64 there.
constexpr TensorElement elements[] = {
    TensorElement::U8,   TensorElement::U16,  TensorElement::U32,    TensorElement::S32,    TensorElement::U64,
    TensorElement::S64,  TensorElement::F16,  TensorElement::F32,    TensorElement::F32Ftz, TensorElement::F64,
    TensorElement::Bf16, TensorElement::Tf32, TensorElement::Tf32Ftz};

class FieldWriter {
 public:
  FieldWriter(FunctionEmitter& f, const Instruction& i) : f_(f), i_(i), map_(f.pointer(i.operands[0], i.space())) {}

  void write() {
    if (i_.has(M::GlobalAddress)) return put(offsetof(TensorMapContents, address), 64, value(1, Type::B64));
    if (i_.has(M::Rank)) {
      // Kernels make maps of zeros, by replacing every field; what gives it a rank makes it a map.
      put(offsetof(TensorMapContents, magic), 32, f_.b.getInt32(TensorMapContents::expected_magic));
      return put(offsetof(TensorMapContents, rank), 8, plus(value(1, Type::B32), 1));
    }
    if (i_.has(M::BoxDim)) return put(of_dimension(offsetof(TensorMapContents, box), 2), 16, value(2, Type::B32));
    if (i_.has(M::GlobalDim))
      return put(of_dimension(offsetof(TensorMapContents, extents), 4), 32, plus(value(2, Type::B32), ~0U));
    if (i_.has(M::GlobalStride))
      return put(of_dimension(offsetof(TensorMapContents, strides), 8), 64, value(2, Type::B64));
    if (i_.has(M::ElementStride))
      return put(of_dimension(offsetof(TensorMapContents, element_strides), 1), 8, value(2, Type::B32));
    const std::uint64_t constant = i_.operands[1].integer;
    if (i_.has(M::InterleaveLayout)) return put(offsetof(TensorMapContents, interleave), 8, f_.b.getInt64(constant));
    if (i_.has(M::SwizzleMode)) return put(offsetof(TensorMapContents, swizzle), 8, f_.b.getInt64(constant));
    if (i_.has(M::FillMode)) return put(offsetof(TensorMapContents, fill), 8, f_.b.getInt64(constant));
    const auto element = static_cast<std::uint8_t>(elements[constant]);
    put(offsetof(TensorMapContents, type), 8, f_.b.getInt64(element));
    put(offsetof(TensorMapContents, element_bytes), 8, f_.b.getInt64(element_bytes[element]));
  }

 private:
  Value* value(std::size_t operand, Type type) { return f_.source(i_.operands[operand], type); }
  Value* plus(Value* value, std::uint32_t more) { return f_.b.CreateAdd(value, f_.b.getInt32(more)); }
  std::size_t of_dimension(std::size_t array, std::size_t bytes) const {
    return array + bytes * static_cast<std::size_t>(i_.operands[1].integer);
  }
  void put(std::size_t offset, unsigned bits, Value* value) {
    Value* field = f_.b.CreateConstInBoundsGEP1_64(f_.b.getInt8Ty(), map_, offset);
    f_.b.CreateAlignedStore(f_.b.CreateZExtOrTrunc(value, f_.b.getIntNTy(bits)), field, llvm::Align(bits / 8));
  }

  FunctionEmitter& f_;
  const Instruction& i_;
  Value* map_;
};

}  // namespace

void emit_tensormap_replace(FunctionEmitter& f, const Instruction& i) { FieldWriter(f, i).write(); }

/// tensormap.cp_fenceproxy [to], [from], 128 by a warp together: what its lanes wrote before is copied, and all of them
/// find it afterwards.
void emit_tensormap_copy(FunctionEmitter& f, const Instruction& i) {
  const auto synchronize = [&] { f.call("cucpu_warp_sync", f.b.getVoidTy(), {f.thread(), f.b.getInt32(~0U)}); };
  synchronize();
  Value* to = f.pointer(i.operands[0], Space::Global);
  Value* from = f.pointer(i.operands[1], Space::Shared);
  f.call("cucpu_copy_and_fill", f.b.getVoidTy(), {to, from, f.b.getInt32(map_bytes), f.b.getInt32(map_bytes)});
  synchronize();
}

}  // namespace cucore::cpu::compiler
