// When the vector form of a kernel is compiled: see later_form.hpp.
#include "cpu/runtime/loading/forms/later_form.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "cpu/analysis/flow/independent_threads.hpp"
#include "cpu/analysis/layout/layout.hpp"
#include "cpu/analysis/reach_and_waits.hpp"
#include "cpu/analysis/vector_limits.hpp"
#include "cpu/runtime/loading/forms/compile_threads.hpp"
#include "cpu/runtime/loading/forms/kernel_source.hpp"
#include "cpu/runtime/process/cost_model.hpp"
#include "cpu/runtime/process/device_identity.hpp"
#include "cpu/runtime/process/trace.hpp"

namespace cucore::cpu::runtime {
namespace {

using std::chrono::nanoseconds;

nanoseconds time_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

/// Of a kernel with so many instructions of PTX, about.
nanoseconds time_of_compile(std::size_t instructions, bool is_convergent) {
  const nanoseconds each = is_convergent ? cost_model::time_of_compile_per_instruction_if_convergent
                                         : cost_model::time_of_compile_per_instruction;
  return std::min(cost_model::longest_compile,
                  cost_model::time_of_compile + static_cast<std::int64_t>(instructions) * each);
}

}  // namespace

std::optional<nanoseconds> time_before_vectors(const KernelOfProgram& kernel, const FirstLaunch& launch) {
  const ptx::Module& module = *kernel.ptx;
  const analysis::Reach reach =
      analysis::find_reach_and_waits(module, kernel.id, analysis::shape_of_warps(launch.block));
  const bool is_convergent = analysis::exchanges_by_convergent_operations(module, reach);
  if (!is_convergent && (launch.needs_no_vectors || !analysis::has_independent_threads(module, reach)))
    return std::nullopt;
  if (!analysis::check_vector_form(module, reach, analysis::lay_out(module, reach).info, 0)) return std::nullopt;
  const nanoseconds compile = time_of_compile(analysis::count_instructions(module, reach), is_convergent);
  const nanoseconds worth = compile / cost_model::part_of_compile;
  if (is_convergent && launch.threads < cost_model::few_threads) return worth;
  const bool repeats = analysis::may_repeat(module, reach);
  if (repeats && launch.blocks >= cost_model::blocks_of_a_thread * worker_count()) return worth;
  if (repeats && !is_convergent) return std::nullopt;  // its compile is brief
  const auto [instructions, convergent] = analysis::expected_work(module, reach, cost_model::rounds_of_a_loop);
  double thread = instructions * cost_model::nanoseconds_of_instruction;
  if (is_convergent) thread += (1 + convergent) * cost_model::nanoseconds_of_convergent_operation;
  const nanoseconds most = repeats ? worth : compile;  // since loops may be longer
  if (static_cast<double>(launch.threads) * thread > static_cast<double>(most.count())) return std::nullopt;
  return worth;
}

LaterForm::LaterForm(KernelOfProgram kernel, CompileOptions options, nanoseconds worth)
    : kernel_(std::move(kernel)), options_(std::move(options)), worth_(worth) {}

bool LaterForm::is_due() {
  nanoseconds spent = spent_;
  if (threads_ > 0) spent += (time_of(clock_) - begin_) * threads_;
  return spent >= worth_ && !std::exchange(is_asked_for_, true);
}

LaterForm::Run::Run(std::shared_ptr<LaterForm> form, unsigned int threads)
    : form_(std::move(form)), threads_(threads), begin_(time_of(CLOCK_THREAD_CPUTIME_ID)) {
  const std::lock_guard lock(form_->mutex_);
  form_->threads_ = threads;
  pthread_getcpuclockid(pthread_self(), &form_->clock_);
  form_->begin_ = begin_;
  if (form_->is_asked_for_ || form_->is_timed_) return;
  form_->is_timed_ = call_at(Clock::now() + (form_->worth_ - form_->spent_) / threads, form_);
}

LaterForm::Run::~Run() {
  const nanoseconds spent = (time_of(CLOCK_THREAD_CPUTIME_ID) - begin_) * threads_;
  bool is_due = false;
  {
    const std::lock_guard lock(form_->mutex_);
    form_->threads_ = 0;  // the time of others that still run counts once they have ended
    form_->spent_ += spent;
    is_due = form_->is_due();
  }
  if (is_due) (void)compile_later(form_);  // without a thread for it the scalar form has to do
}

std::optional<Timed::Clock::time_point> LaterForm::on_time() {
  {
    const std::lock_guard lock(mutex_);
    is_timed_ = false;
    if (is_asked_for_ || threads_ == 0) return std::nullopt;
    if (!is_due()) {
      is_timed_ = true;
      return Clock::now() + std::max<nanoseconds>((worth_ - spent_) / threads_, cost_model::shortest_look);
    }
  }
  (void)compile_later(shared_from_this());
  return std::nullopt;
}

void LaterForm::make() {
  trace::Slice slice("compile", trace::is_open() ? "compile " + kernel_.display_name : "");
  made_.emplace(compile_object(*kernel_.ptx, kernel_.id, options_));
  if (*made_)
    slice.arguments.add("form", (*made_)->info.form == FormOfCode::Scalar ? "scalar" : "vector")
        .raw("from_cache", "false");
  is_made_.store(true, std::memory_order_release);
}

}  // namespace cucore::cpu::runtime
