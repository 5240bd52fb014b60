// The stand-in for the run-time: memory, services and launches on one thread.
#include "cpu/tests/compiler/stand_in.hpp"

#include <gtest/gtest.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/abi/kernel_heap.hpp"
#include "cpu/ptx/parser.hpp"

namespace cucore::cpu {

Observations& observations() {
  static Observations seen;
  return seen;
}

std::string read_test_file(const std::string& path) {
  std::ifstream file(std::string(CUCORE_TEST_DATA) + "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// ---- fibers of one block -------------------------------------------------------------------------------------------

namespace {

struct ConvergentOperation {
  std::uint32_t arrived = 0;
  std::uint32_t generation = 0;
  std::uint32_t values[32] = {};
  std::uint32_t present = 0;                ///< lanes that brought a value
  bool is_read = false;                     ///< all have come: the next value starts anew
  std::uint32_t popcount = 0, reduced = 0;  ///< predicates that were true, and all that were brought
  std::uint32_t result = 0, all = 0;        ///< the same, of those who go on
};

struct Fiber {
  ucontext_t context;
  std::vector<std::byte> stack;
  ThreadState state;
  std::uint32_t threads = 1;  ///< from that one on
  RunThread run = nullptr;
  bool done = false;
  const ConvergentOperation* convergent = nullptr;  ///< where it waits, or waited for this generation
  std::uint32_t generation = 0;
  std::optional<std::uint32_t> step;  ///< it waits to go on in step, from this place

  bool waits() const { return step || (convergent != nullptr && convergent->generation == generation); }
};

struct Scheduler {
  ucontext_t context;
  std::vector<Fiber> fibers;
  Fiber* running = nullptr;
  std::map<std::uint32_t, ConvergentOperation> barriers;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ConvergentOperation> warps;
  /// By warp and mask, to what they do as one; by warpgroup.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<void*, 32>> brought;
  std::map<std::uint32_t, std::array<void*, 128>> brought_to_group;
  std::map<std::uint32_t, ConvergentOperation> groups;

  std::uint32_t exited() const {
    std::uint32_t threads = 0;
    for (const Fiber& fiber : fibers) threads += fiber.done ? fiber.threads : 0;
    return threads;
  }
};
Scheduler* scheduler = nullptr;

void yield() {
  if (scheduler != nullptr) swapcontext(&scheduler->running->context, &scheduler->context);
}

void fiber_main() {
  Fiber* self = scheduler->running;
  self->run(&self->state);
  self->done = true;
  swapcontext(&self->context, &scheduler->context);
}

void run_fibers(const BlockState& block, RunThread run, const KernelInfo& info) {
  const std::uint32_t threads_of_fiber = info.threads_of_fiber;
  Scheduler local;
  scheduler = &local;
  const auto& extent = block.launch->block;
  const std::uint32_t threads = extent[0] * extent[1] * extent[2];
  local.fibers.resize((threads + threads_of_fiber - 1) / threads_of_fiber);
  for (Fiber& fiber : local.fibers) {
    const std::uint32_t linear = static_cast<std::uint32_t>(&fiber - local.fibers.data()) * threads_of_fiber;
    fiber.threads = std::min(threads_of_fiber, threads - linear);
    fiber.state = {.block = &block,
                   .thread_id = {linear % extent[0], linear / extent[0] % extent[1], linear / extent[0] / extent[1]},
                   .linear = linear,
                   .runtime = &fiber,
                   .place = 0};
    fiber.run = run;
    fiber.stack.resize(256 * 1024 + info.frame_bytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, fiber_main, 0);
  }
  int rounds = 0;
  while (local.exited() < threads) {
    if (++rounds > 100000) {
      ADD_FAILURE() << "the block waits for ever";
      break;
    }
    for (Fiber& fiber : local.fibers) {
      if (fiber.done) continue;
      local.running = &fiber;
      swapcontext(&local.context, &fiber.context);
    }
  }
  scheduler = nullptr;
}

/// The running fiber waits from now on until the operation is over.
void wait_at(const ConvergentOperation& convergent) {
  scheduler->running->convergent = &convergent;
  scheduler->running->generation = convergent.generation;
}

/// Waits until `arrived` of the operation and the exited threads make `count`.
void converge(ConvergentOperation& convergent, std::uint32_t count) {
  const std::uint32_t generation = convergent.generation;
  convergent.arrived += scheduler->running->threads;
  wait_at(convergent);
  while (convergent.generation == generation) {
    if (convergent.arrived + scheduler->exited() >= count) {
      convergent.result = convergent.popcount;
      convergent.all = convergent.reduced;
      convergent.popcount = convergent.reduced = 0;
      convergent.arrived = 0;
      ++convergent.generation;
      return;
    }
    yield();
  }
}

/// All lanes of `mask` that still run converge.
ConvergentOperation& converge_warp(const ThreadState* thread, std::uint32_t mask) {
  ConvergentOperation& convergent = scheduler->warps[{thread->linear / 32, mask}];
  const std::uint32_t generation = convergent.generation;
  ++convergent.arrived;
  wait_at(convergent);
  while (convergent.generation == generation) {
    std::uint32_t live = 0;
    for (const Fiber& fiber : scheduler->fibers) {
      const bool named = fiber.state.linear / 32 == thread->linear / 32 && (mask >> fiber.state.linear % 32 & 1) != 0;
      if (named && !fiber.done) ++live;
    }
    if (convergent.arrived >= live) {
      convergent.arrived = 0;
      ++convergent.generation;
      break;
    }
    yield();
  }
  return convergent;
}

void bring(const ThreadState* thread, std::uint32_t mask, std::uint32_t value) {
  ConvergentOperation& convergent = scheduler->warps[{thread->linear / 32, mask}];
  if (convergent.is_read) convergent.present = 0;
  convergent.is_read = false;
  convergent.values[thread->linear % 32] = value;
  convergent.present |= 1U << thread->linear % 32;
}

std::uint32_t threads_of(const ThreadState* thread, std::uint32_t count) {
  const auto& extent = thread->block->launch->block;
  return count != 0 ? count : extent[0] * extent[1] * extent[2];
}

}  // namespace

extern "C" {

void cucpu_barrier(ThreadState* thread, std::uint32_t id, std::uint32_t count) {
  converge(scheduler->barriers[id], threads_of(thread, count));
}

void cucpu_barrier_arrive(ThreadState*, std::uint32_t id, std::uint32_t) { ++scheduler->barriers[id].arrived; }

std::uint32_t cucpu_barrier_reduce(ThreadState* thread, std::uint32_t id, std::uint32_t count, std::uint32_t op,
                                   std::uint32_t trues, std::uint32_t lanes) {
  ConvergentOperation& convergent = scheduler->barriers[id];
  convergent.popcount += trues;
  convergent.reduced += lanes;
  converge(convergent, threads_of(thread, count));
  return op == 0 ? convergent.result : op == 1 ? convergent.result == convergent.all : convergent.result != 0;
}

void cucpu_warp_sync(ThreadState* thread, std::uint32_t mask) { converge_warp(thread, mask); }

/// Nobody polls here: the lanes at the lowest place go on when all others wait too.
void cucpu_lockstep(ThreadState* thread, std::uint32_t place) {
  if (scheduler == nullptr) return;
  std::optional<std::uint32_t>& mine = scheduler->running->step;
  mine = place;
  while (mine) {
    const auto is_of_warp = [&](const Fiber& fiber) { return fiber.state.linear / 32 == thread->linear / 32; };
    std::uint32_t lowest = place;
    bool all_wait = true;
    for (const Fiber& fiber : scheduler->fibers) {
      if (!is_of_warp(fiber) || fiber.done) continue;
      all_wait &= fiber.waits();
      if (fiber.step) lowest = std::min(lowest, *fiber.step);
    }
    for (Fiber& fiber : scheduler->fibers)
      if (all_wait && is_of_warp(fiber) && fiber.step == lowest) fiber.step.reset();
    if (mine) yield();
  }
}

std::uint64_t cucpu_shuffle(ThreadState* thread, std::uint32_t mode, std::uint32_t value, std::uint32_t lane_operand,
                            std::uint32_t clamp_operand, std::uint32_t mask) {
  const std::uint32_t lane = thread->linear % 32;
  bring(thread, mask, value);
  ConvergentOperation& convergent = converge_warp(thread, mask);
  convergent.is_read = true;
  const std::uint32_t by = lane_operand & 31;
  const std::uint32_t segment = clamp_operand >> 8 & 31;
  const std::uint32_t clamp = clamp_operand & 31;
  const std::uint32_t most = (lane & segment) | (clamp & ~segment);
  std::uint32_t from = 0;
  bool in_range = false;
  if (mode == 0) {
    in_range = static_cast<std::int32_t>(lane - by) >= static_cast<std::int32_t>(most);
    from = lane - by;
  } else {
    from = mode == 1 ? lane + by : mode == 2 ? lane ^ by : (lane & segment) | (by & ~segment);
    in_range = from <= most;
  }
  // A lane that does not participate has no value: undefined in PTX, 0 on GPUs and in the run-time.
  const bool given = in_range && (convergent.present >> (from & 31) & 1) != 0;
  const std::uint64_t result = given ? convergent.values[from & 31] : in_range ? 0 : value;
  converge_warp(thread, mask);
  return result | std::uint64_t{in_range} << 32;
}

std::uint32_t cucpu_vote(ThreadState* thread, std::uint32_t mode, std::uint32_t predicate, std::uint32_t mask) {
  bring(thread, mask, predicate);
  ConvergentOperation& convergent = converge_warp(thread, mask);
  convergent.is_read = true;
  std::uint32_t ballot = 0;
  for (std::uint32_t l = 0; l < 32; ++l) {
    if ((convergent.present >> l & 1) != 0 && convergent.values[l] != 0) ballot |= 1U << l;
  }
  const std::uint32_t present = convergent.present;
  converge_warp(thread, mask);
  switch (mode) {
    case 0:
      return ballot == present;
    case 1:
      return ballot != 0;
    case 2:
      return ballot == present || ballot == 0;
    default:
      return ballot;
  }
}

void cucpu_warp_together(ThreadState* thread, void (*operation)(void* const* lanes), void* mine, std::uint64_t,
                         std::uint32_t mask) {
  auto& lanes = scheduler->brought[{thread->linear / 32, mask}];
  void*& own = lanes[thread->linear % 32];
  own = mine;
  converge_warp(thread, mask);
  if (own != nullptr) {  // the first to go on works for all
    operation(lanes.data());
    lanes.fill(nullptr);
  }
  converge_warp(thread, mask);
}

void cucpu_warpgroup_together(ThreadState* thread, void (*operation)(void* const* threads), void* mine, std::uint64_t) {
  constexpr std::uint32_t size = 128;
  ConvergentOperation& convergent = scheduler->groups[thread->linear / size];
  auto& threads = scheduler->brought_to_group[thread->linear / size];
  void*& own = threads[thread->linear % size];
  own = mine;
  converge(convergent, size);
  if (own != nullptr) {  // the first to go on works for all
    operation(threads.data());
    threads.fill(nullptr);
  }
  converge(convergent, size);
}

std::uint32_t cucpu_activemask(ThreadState* thread, std::uint32_t) { return 1U << (thread->linear % 32); }

// Every cluster is one block here.
void cucpu_cluster_arrive(ThreadState*) {}
void cucpu_cluster_wait(ThreadState* thread) { cucpu_barrier(thread, 0, 0); }

std::uint64_t cucpu_stack_end() { return ~std::uint64_t{0}; }

void cucpu_yield(ThreadState*) {
  ++observations().yields;
  yield();
}

void cucpu_lap(const BlockState*) { ++observations().laps; }

void cucpu_nanosleep(ThreadState*, std::uint32_t) { yield(); }

/// Understands %d, %u, %f and %s: what the tests print.
std::int32_t cucpu_vprintf(ThreadState*, const char* format, const void* arguments) {
  const auto* next = static_cast<const std::byte*>(arguments);
  auto take = [&]<typename T>(T value) {
    const auto at = reinterpret_cast<std::uintptr_t>(next);
    next = reinterpret_cast<const std::byte*>((at + alignof(T) - 1) / alignof(T) * alignof(T));
    std::memcpy(&value, next, sizeof(T));
    next += sizeof(T);
    return value;
  };
  std::string& to = observations().printed;
  for (const char* c = format; *c != '\0'; ++c) {
    if (*c != '%') {
      to += *c;
      continue;
    }
    char text[64] = {};
    switch (*++c) {
      case 'd':
        std::snprintf(text, sizeof text, "%d", take(0));
        break;
      case 'u':
        std::snprintf(text, sizeof text, "%u", take(0U));
        break;
      case 'f':
        std::snprintf(text, sizeof text, "%f", take(0.0));
        break;
      default:
        to += take(static_cast<const char*>(nullptr));
    }
    to += text;
  }
  return 1;
}

std::uint64_t cucpu_malloc(std::uint64_t bytes) { return reinterpret_cast<std::uintptr_t>(std::malloc(bytes)); }

void cucpu_free(ThreadState*, std::uint64_t block) { std::free(reinterpret_cast<void*>(block)); }

void cucpu_assertfail(ThreadState*, const char* message, const char* file, std::uint32_t line, const char* function,
                      std::uint64_t) {
  observations().assertion =
      std::string(file) + ":" + std::to_string(line) + ": " + function + ": " + std::string(message);
}

void cucpu_device_call(ThreadState*, std::uint32_t, void* const*) {}

void cucpu_trap(ThreadState*) { ++observations().traps; }

void cucpu_fault(ThreadState*, KernelFault, const char*) { ++observations().traps; }

std::uint64_t cucpu_globaltimer() {
  static std::uint64_t now = 0;
  return ++now;
}

// No objects exist here: textures are black, surfaces swallow what is stored.
void cucpu_texture_fetch(ThreadState*, std::uint64_t, std::uint32_t, const TexelRequest*, std::uint32_t* texel) {
  std::fill(texel, texel + 4, 0);
}

void cucpu_surface_access(ThreadState*, std::uint64_t, std::uint32_t operation, const std::int32_t*, void* data) {
  const bool loads = (operation & (texel_operation::store_bit | texel_operation::reduce_bit)) == 0;
  if (loads) std::memset(data, 0, operation >> texel_operation::bytes_shift & 63);
}

std::uint32_t cucpu_texel_query(ThreadState*, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t) { return 0; }
}

// ---- modules and launches ------------------------------------------------------------------------------------------

FormOfCode form_under_test() {
  const char* text = std::getenv("CUCORE_CPU_FORM");
  const std::string_view form = text != nullptr ? text : "";
  if (form == "auto") return FormOfCode::Auto;
  if (form == "masked") return FormOfCode::Masked;
  return form == "vector" ? FormOfCode::Vector : FormOfCode::Scalar;
}

TestModule::TestModule(std::string_view text, FormOfCode form_) : form(form_) {
  if (const char* processor = std::getenv("CUCORE_CPU_MARCH")) march = processor;
  observations() = {};
  ptx::ParseResult parsed = ptx::parse(text);
  if (parsed.module == nullptr) throw std::runtime_error(ptx::format(parsed.diagnostics));
  module_ = std::move(parsed.module);
  for (const ptx::Variable& variable : module_->variables) {
    auto& bytes = storage_.emplace_back(variable.size / 8 + 1, 0);
    std::copy(variable.initial.begin(), variable.initial.end(), reinterpret_cast<std::uint8_t*>(bytes.data()));
    addresses_.variables.push_back(variable.space == ptx::Space::Shared ? nullptr : bytes.data());
  }
  for (std::size_t v = 0; v < module_->variables.size(); ++v) {
    for (const ptx::Relocation& relocation : module_->variables[v].relocations) {
      if (relocation.is_function) continue;
      const auto address = reinterpret_cast<std::uintptr_t>(storage_[relocation.variable].data()) +
                           static_cast<std::uintptr_t>(relocation.addend);
      std::memcpy(reinterpret_cast<std::byte*>(storage_[v].data()) + relocation.offset, &address, relocation.width);
    }
  }
}

TestModule::~TestModule() = default;

void* TestModule::variable(std::string_view name) const {
  const ptx::Variable* found = module_->find_variable(name);
  return found == nullptr ? nullptr : addresses_.variables[static_cast<std::size_t>(found - module_->variables.data())];
}

const Code* TestModule::compile(std::string_view kernel, Extent block) {
  for (const Variant& variant : compiled_) {
    const bool same_block = form == FormOfCode::Scalar ||
                            (variant.block.x == block.x && variant.block.y == block.y && variant.block.z == block.z);
    if (variant.kernel == kernel && same_block) return variant.code.get();
  }
  const ptx::Function* function = module_->find_function(kernel);
  if (function == nullptr) throw std::runtime_error("no kernel " + std::string(kernel));
  const auto id = static_cast<ptx::FunctionId>(function - module_->functions.data());
  const CompileOptions options{.form = form, .block = {block.x, block.y, block.z}, .checks = checks, .march = march};
  loader::CompiledKernel compiled = value_of(loader::compile(*module_, id, addresses_, options, cache));
  refusal = compiled.refusal;
  was_cached = compiled.was_cached;
  return compiled_.emplace_back(Variant{std::string(kernel), block, std::move(compiled.code)}).code.get();
}

void TestModule::launch_block_of_bytes(std::string_view kernel, Extent grid, Extent block, std::uint32_t dynamic_shared,
                                       const std::vector<std::byte>& parameters) {
  const Code* code = compile(kernel, block);
  alignas(16) std::byte block_of_parameters[4096] = {};
  ASSERT_LE(parameters.size(), sizeof block_of_parameters);
  std::copy(parameters.begin(), parameters.end(), block_of_parameters);
  const LaunchState launch{.params = block_of_parameters,
                           .grid = {grid.x, grid.y, grid.z},
                           .block = {block.x, block.y, block.z},
                           .dynamic_shared = dynamic_shared,
                           .total_shared = code->info.static_shared + dynamic_shared,
                           .grid_id = 7,
                           .grid_workspace = 0x1234567890abcdef,
                           .multiprocessors = 3,
                           .runtime = nullptr,
                           .cluster = {1, 1, 1},
                           .cluster_size = 1,
                           .cluster_stride = 1 << 20,
                           .names_clusters = 0,
                           .checks = check_table,
                           .graph_exec = 0};
  for (std::uint32_t z = 0; z < grid.z; ++z) {
    for (std::uint32_t y = 0; y < grid.y; ++y) {
      for (std::uint32_t x = 0, together = 1; x < grid.x; x += together) {
        together = code->info.runs_rows ? grid.x - x : 1;
        const auto shared = std::make_unique<std::byte[]>(launch.total_shared + std::size_t{256});
        void* base = shared.get();
        std::size_t room = launch.total_shared + std::size_t{256};
        std::align(128, launch.total_shared, base, room);
        CheckedBlock found{};
        BlockState state{.launch = &launch,
                         .shared = static_cast<std::byte*>(base),
                         .block_id = {x, y, z},
                         .worker = 1,
                         .runtime = nullptr,
                         .cluster_shared = static_cast<std::byte*>(base),
                         .cluster_id = {x, y, z},
                         .cluster_block_id = {0, 0, 0},
                         .cluster_rank = 0,
                         .checks = &found,
                         .row_blocks = together};
        if (code->run_block != nullptr) {
          code->run_block(&state);
        } else {
          run_fibers(state, code->run_thread, code->info);
        }
      }
    }
  }
}

}  // namespace cucore::cpu
