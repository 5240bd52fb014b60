// The rows of special registers: see special_registers.hpp.
#include "cpu/analysis/instructions/special_registers.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace cucore::cpu::analysis {
namespace {

constexpr std::array<std::pair<std::string_view, Special>, 37> spellings{{
    {"%tid", Special::Tid},
    {"%ntid", Special::Ntid},
    {"%ctaid", Special::Ctaid},
    {"%nctaid", Special::Nctaid},
    {"%laneid", Special::Laneid},
    {"%warpid", Special::Warpid},
    {"%nwarpid", Special::Nwarpid},
    {"%smid", Special::Smid},
    {"%nsmid", Special::Nsmid},
    {"%gridid", Special::Gridid},
    {"%lanemask_eq", Special::LanemaskEq},
    {"%lanemask_le", Special::LanemaskLe},
    {"%lanemask_lt", Special::LanemaskLt},
    {"%lanemask_ge", Special::LanemaskGe},
    {"%lanemask_gt", Special::LanemaskGt},
    {"%clock", Special::Clock},
    {"%clock_hi", Special::ClockHi},
    {"%clock64", Special::Clock64},
    {"%globaltimer", Special::Globaltimer},
    {"%globaltimer_lo", Special::GlobaltimerLo},
    {"%globaltimer_hi", Special::GlobaltimerHi},
    {"%envreg", Special::Envreg},
    {"%dynamic_smem_size", Special::DynamicSmemSize},
    {"%total_smem_size", Special::TotalSmemSize},
    {"%aggr_smem_size", Special::TotalSmemSize},
    {"%reserved_smem_offset_begin", Special::ReservedSmemBegin},
    {"%reserved_smem_offset_end", Special::ReservedSmemEnd},
    {"%reserved_smem_offset_cap", Special::ReservedSmemCap},
    {"%reserved_smem_offset_", Special::ReservedSmemPart},
    {"%clusterid", Special::ClusterId},
    {"%nclusterid", Special::ClusterCount},
    {"%cluster_ctaid", Special::ClusterBlockId},
    {"%cluster_nctaid", Special::ClusterBlockCount},
    {"%cluster_ctarank", Special::ClusterBlockRank},
    {"%cluster_nctarank", Special::ClusterSize},
    {"%is_explicit_cluster", Special::IsExplicitCluster},
    {"%current_graph_exec", Special::CurrentGraphExec},
}};

}  // namespace

std::optional<Special> find_special(const ptx::SpecialRegister& special) {
  for (const auto& [spelling, value] : spellings) {
    if (spelling == special.name) return value;
  }
  return {};
}

}  // namespace cucore::cpu::analysis
