// Random programs in which lanes of a warp exchange values with nothing between them that orders it, in blocks of one,
// two and three dimensions, whose warps may span rows: along rows, columns and diagonals, as transposes, trees, scans,
// sorting networks, stencils, queues, and so on. And the same programs, and others, with all that orders them: ordinary
// kernels, which have no need of lanes in step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cpu/tests/any_driver/lane_machine.hpp"

namespace cucore::cpu {

enum class LaneProgramKind : std::uint8_t {
  Exchanges,    ///< count on lanes running in step
  Synchronised  ///< the same, with barriers of the warp wherever one stores what another loads or stores
};

struct LaneProgram {
  LaneMachine machine;
  std::string steps;     ///< what it does, for who reads a failure
  bool is_same_on_gpus;  ///< volatile: of plain accesses a GPU's compiler changes the order
  std::vector<std::uint32_t> expected;
  std::string fault;  ///< of the program itself
};

LaneProgram lane_program(std::uint32_t seed, LaneProgramKind kind);

}  // namespace cucore::cpu
