// Data races: the reports. See races.hpp.
#include <string>
#include <utility>

#include "cpu/abi/checks.hpp"
#include "cpu/runtime/checker/races.hpp"
#include "cpu/runtime/grid/checker.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"

namespace cucore::cpu::runtime {

namespace bits = check_access;

std::string BlockRaces::spelt(const SharedPlace& place) const {
  const std::string of_block = place.rank != rank_ ? " of the cluster's block " + std::to_string(place.rank) : "";
  return "shared address " + hexadecimal(place.offset) + of_block;
}

void BlockRaces::add_race(const ThreadState& thread, std::uint32_t access, std::uint32_t line, bool is_shared,
                          const Conflict& conflict, const std::string& place) {
  const bool writes = (access & bits::writes_memory) != 0;
  const std::string other_kind = conflict.other_writes ? "write" : "read";
  checker::Finding finding;
  finding.headline = std::string("Race in ") + (is_shared ? "__shared__" : "__global__") +
                     " memory: " + (writes ? "write" : "read") + " and " + other_kind +
                     (conflict.in_lockstep ? " by lanes of one warp with no __syncwarp() between them"
                                           : " by different threads that nothing orders");
  finding.line = line;
  if (grid_.findings.count_another(line, finding.headline)) return;
  const RaceEntry& other = conflict.other;
  if (other.is_copy) {
    finding.details.push_back("the other write: a copy at " + checker::place_of(grid_, other.line) +
                              ", for which this thread has not waited at its mbarrier");
  } else {
    ThreadState other_thread{};
    set_thread_id(other_thread, grid_, other.thread);
    BlockState block{};
    set_block_id(block, grid_, other.block);
    finding.details.push_back("the other " + other_kind + ": thread " + runtime::spelt(other_thread.thread_id) +
                              " in block " + runtime::spelt(block.block_id) + " at " +
                              checker::place_of(grid_, other.line));
  }
  if (!place.empty()) finding.details.push_back(place);
  if (conflict.in_lockstep)
    finding.details.push_back(std::string(conflict.is_strong ? "volatile is no barrier" : "nothing is a barrier here") +
                              " between lanes of a warp: right only while they run in step");
  checker::add(grid_, *thread.block, &thread, std::move(finding));
}

void BlockRaces::add_remote(const BlockState& block, const ThreadState& thread, std::uint32_t line, bool writes,
                            std::uint32_t other_block, bool has_ended) {
  checker::Finding finding;
  finding.headline = std::string("Race in __shared__ memory: ") + (writes ? "write" : "read") +
                     (has_ended ? " of a block that may have ended" : " of a block that may not have begun");
  finding.line = line;
  if (grid_.findings.count_another(line, finding.headline)) return;
  BlockState other{};
  set_block_id(other, grid_, other_block);
  finding.details.push_back("block " + runtime::spelt(other.block_id) +
                            (has_ended ? " waits for nothing after this before it ends"
                                       : " was not waited for before: a barrier of the cluster would do"));
  checker::add(grid_, block, &thread, std::move(finding));
}

void BlockRaces::add_disturbance(const ThreadState& thread, std::uint32_t access, std::uint32_t line,
                                 const PendingCopies::Cell& copy, const std::string& place) {
  checker::Finding finding;
  finding.headline = std::string("Race in __shared__ memory: ") +
                     ((access & bits::writes_memory) != 0 ? "write" : "read") + " during a copy that " +
                     (copy.writes ? "writes" : "reads") + " there and was not waited for";
  finding.line = line;
  if (grid_.findings.count_another(line, finding.headline)) return;
  ThreadState issuer{};
  set_thread_id(issuer, grid_, copy.thread);
  finding.details.push_back("the copy: by thread " + runtime::spelt(issuer.thread_id) + " at " +
                            checker::place_of(grid_, copy.line));
  finding.details.push_back(place);
  checker::add(grid_, *thread.block, &thread, std::move(finding));
}

void BlockRaces::add_unfenced(const ThreadState& thread, std::uint32_t line, const RaceEntry& write,
                              const std::string& place) {
  checker::Finding finding;
  finding.headline =
      "Race in __shared__ memory: read by the asynchronous proxy of what was written without a proxy fence";
  finding.line = line;
  if (grid_.findings.count_another(line, finding.headline)) return;
  ThreadState writer{};
  set_thread_id(writer, grid_, write.thread);
  finding.details.push_back("the write: thread " + runtime::spelt(writer.thread_id) + " at " +
                            checker::place_of(grid_, write.line) + ", after which no fence.proxy.async stands");
  finding.details.push_back(place);
  checker::add(grid_, *thread.block, &thread, std::move(finding));
}

}  // namespace cucore::cpu::runtime
