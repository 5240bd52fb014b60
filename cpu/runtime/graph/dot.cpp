// Graphs in the DOT language, for cuGraphDebugDotPrint.
#include <cstdio>
#include <sstream>

#include "cpu/runtime/graph/graph.hpp"
#include "cpu/runtime/loading/module.hpp"

namespace cucore::cpu::runtime {

namespace {

const char* name_of(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "KERNEL";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "MEMCPY";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "MEMSET";
    case CU_GRAPH_NODE_TYPE_HOST:
      return "HOST";
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return "GRAPH";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return "EVENT_WAIT";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "EVENT_RECORD";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return "MEM_ALLOC";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "MEM_FREE";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return "BATCH_MEM_OP";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return "CONDITIONAL";
    default:
      return "EMPTY";
  }
}

/// What the flags ask to see of a node's parameters, a line for each.
std::string details_of(const Payload& payload, unsigned int flags) {
  const auto wants = [flags](unsigned int flag) { return (flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)) != 0; };
  std::ostringstream text;
  const auto* const kernel = std::get_if<KernelPayload>(&payload);
  if (kernel) text << "\\n" << kernel->function->description().name;
  if (kernel && wants(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)) {
    const LaunchRequest& r = kernel->request;
    text << "\\ngrid " << r.grid[0] << "," << r.grid[1] << "," << r.grid[2] << " block " << r.block[0] << ","
         << r.block[1] << "," << r.block[2] << " shared " << r.dynamic_shared;
  }
  const auto* const memset = std::get_if<MemsetPayload>(&payload);
  if (memset && wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
    text << "\\ndst 0x" << std::hex << memset->fill.dst << " value 0x" << memset->fill.value << std::dec << " "
         << memset->fill.width << "x" << memset->fill.height << " of " << memset->fill.elementSize;
  const auto* const memcpy = std::get_if<MemcpyPayload>(&payload);
  if (memcpy && wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
    text << "\\n" << memcpy->copy.WidthInBytes << "x" << memcpy->copy.Height << "x" << memcpy->copy.Depth << " bytes";
  const auto* const alloc = std::get_if<AllocPayload>(&payload);
  if (alloc && wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS))
    text << "\\n" << alloc->parameters.bytesize << " bytes at 0x" << std::hex << alloc->parameters.dptr;
  const auto* const free = std::get_if<FreePayload>(&payload);
  if (free && wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS)) text << "\\n0x" << std::hex << free->address;
  return text.str();
}

std::string name_of(const Graph& graph) { return "graph_" + std::to_string(graph.id()); }

void write(const Graph& graph, unsigned int flags, std::ostringstream& out) {
  const std::string name = name_of(graph);
  const auto id_of = [&](const GraphNode& node) { return "\"" + name + "_node_" + std::to_string(node.id) + "\""; };
  std::size_t position = 0;
  for (const auto& node : graph.nodes()) {
    out << id_of(*node) << " [shape=\"record\" label=\"" << position++ << " " << name_of(type_of(*node->payload))
        << details_of(*node->payload, flags);
    if ((flags & (CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)) != 0)
      out << "\\n" << static_cast<const void*>(node->handle);
    out << "\"];\n";
    for (const auto& edge : node->dependents) out << id_of(*node) << " -> " << id_of(*edge.node) << ";\n";
  }
  for (const auto& node : graph.nodes()) {
    std::vector<std::shared_ptr<Graph>> inner;
    if (const auto* const child = std::get_if<ChildPayload>(node->payload.get())) inner = {child->graph};
    if (const auto* const conditional = std::get_if<ConditionalPayload>(node->payload.get()))
      inner = conditional->bodies;
    for (const auto& each : inner) {
      out << "subgraph cluster_" << name_of(*each) << " {\nlabel=\"" << name_of(*each) << "\";\n";
      write(*each, flags, out);
      out << "}\n";
    }
  }
}

}  // namespace

std::string dot_of(const Graph& graph, unsigned int flags) {
  std::ostringstream out;
  out << "digraph dot {\nsubgraph cluster_" << name_of(graph) << " {\nlabel=\"" << name_of(graph) << "\";\n";
  write(graph, flags, out);
  out << "}\n}\n";
  return out.str();
}

}  // namespace cucore::cpu::runtime
