// What a video instruction does, read of its spelling: vadd and the like on bytes and halves of registers, and the SIMD
// forms of them (vadd2, vadd4 ...).
#pragma once

#include <array>
#include <cstdint>

#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

/// Bits of a register; in SIMD forms of the pair b:a, whose low half is a.
struct BitRange {
  std::uint8_t first = 0;
  std::uint8_t count = 32;
};

/// Whether it is one of them: vadd ... vsub4.
bool is_video(Opcode opcode);

struct VideoForm {
  std::uint8_t lanes = 1;  ///< elements that one instruction works on: 2 and 4 in SIMD forms
  std::uint8_t mask = 1;   ///< lanes of the result that the operation gives; SIMD forms take the others of c
  bool is_merged = false;  ///< a scalar form whose result replaces `to` in c
  BitRange to;
  std::array<BitRange, 4> a;  ///< by lane
  std::array<BitRange, 4> b;
};

/// What is wrong is said in words that follow the instruction's name.
Result<VideoForm> read_video_form(const Instruction& instruction);

}  // namespace cucore::cpu::ptx
