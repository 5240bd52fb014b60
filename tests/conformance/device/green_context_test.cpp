// Device resources and green contexts: dividing a device, contexts on a part of it, and what they share with the
// primary one.
#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

class GreenContext : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device().resources().sm();
    } catch (const UnavailableError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  /// A group of the smallest size.
  static SMGroup smallest() { return {.count = device().resources().sm().min_partition_size()}; }
  static Context make() {
    return device().create_context({.resources = {device().resources().sm().split({smallest()}).groups.at(0)}});
  }
  static bool has_structured_split() {
    const auto missing = missing_driver_functions();
    return std::find(missing.begin(), missing.end(), "cuDevSmResourceSplit") == missing.end();
  }
};

TEST_F(GreenContext, a_device_has_all_its_multiprocessors) {
  const SMResource sm = device().resources().sm();
  EXPECT_EQ(sm.sm_count(), static_cast<unsigned>(device().properties().multiprocessor_count()));
  EXPECT_GE(sm.min_partition_size(), 1u);
  EXPECT_GE(sm.coscheduled_alignment(), 1u);
  EXPECT_EQ(sm.device(), device());
  EXPECT_FALSE(sm.is_dry_run());
  EXPECT_NE(sm.handle(), nullptr);
}

TEST_F(GreenContext, the_primary_context_has_all_of_the_device) {
  EXPECT_FALSE(device().context().is_green());
  EXPECT_EQ(device().context().green_handle(), nullptr);
  EXPECT_EQ(device().context().resources().sm().sm_count(), device().resources().sm().sm_count());
}

TEST_F(GreenContext, a_split_gives_groups_and_what_is_left) {
  const SMResource all = device().resources().sm();
  const SMSplit split = all.split({smallest()});
  ASSERT_EQ(split.groups.size(), 1u);
  EXPECT_GE(split.groups[0].sm_count(), smallest().count);
  EXPECT_EQ(split.groups[0].sm_count() + split.remainder.sm_count(), all.sm_count());
  EXPECT_GE(split.groups[0].min_partition_size(), 1u);
  EXPECT_EQ(split.groups[0].device(), device());
}

TEST_F(GreenContext, a_dry_run_counts_alike_and_makes_no_context) {
  const SMResource all = device().resources().sm();
  const SMSplit dry = all.split({smallest()}, true);
  const SMSplit wet = all.split({smallest()});
  ASSERT_EQ(dry.groups.size(), wet.groups.size());
  EXPECT_EQ(dry.groups[0].sm_count(), wet.groups[0].sm_count());
  EXPECT_EQ(dry.remainder.sm_count(), wet.remainder.sm_count());
  EXPECT_TRUE(dry.groups[0].is_dry_run());
  EXPECT_TRUE(dry.remainder.is_dry_run());
  EXPECT_THROW(device().create_context({.resources = {dry.groups[0]}}), ValueError);
  EXPECT_TRUE(says(refusal([&] { device().create_context({.resources = {dry.groups[0]}}); }), "dry-run"));
}

TEST_F(GreenContext, splits_of_one_resource_are_alternatives) {
  const SMResource all = device().resources().sm();
  const SMSplit first = all.split({smallest()});
  const SMSplit second = all.split({smallest()});
  EXPECT_EQ(first.groups[0].sm_count(), second.groups[0].sm_count());
}

TEST_F(GreenContext, more_than_there_is_cannot_be_split_off) {
  const SMResource all = device().resources().sm();
  const std::vector<SMGroup> none;
  EXPECT_THROW(all.split(none), ValueError);
  const std::string text = refusal([&] { all.split({{.count = all.sm_count() + 64}}); });
  EXPECT_TRUE(says(text, "CUDA_ERROR_INVALID_", "cuDevSmResourceSplit", "in steps of"));
}

TEST_F(GreenContext, groups_of_different_sizes_need_a_driver_of_13_1) {
  const SMResource all = device().resources().sm();
  const unsigned unit = std::max(all.min_partition_size(), all.coscheduled_alignment());
  if (all.sm_count() < 3 * unit) GTEST_SKIP() << "too few multiprocessors for groups of one and two units";
  const std::vector<SMGroup> groups{{.count = unit}, {.count = 2 * unit}};
  if (!has_structured_split()) {
    EXPECT_THROW(all.split(groups), UnavailableError);
    EXPECT_THROW(all.split({{.count = unit, .coscheduled_sm_count = unit}}), UnavailableError);
    return;
  }
  const SMSplit split = all.split(groups);
  EXPECT_EQ(split.groups.at(0).sm_count(), unit);
  EXPECT_EQ(split.groups.at(1).sm_count(), 2 * unit);
}

TEST_F(GreenContext, fractions_become_groups_that_can_be_had) {
  const SMResource all = device().resources().sm();
  const unsigned unit = std::max(all.min_partition_size(), all.coscheduled_alignment());
  const std::vector<SMGroup> whole = all.fractions({1.0});
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0].count, all.sm_count() / unit * unit);
  if (all.sm_count() >= 2 * unit) {
    const std::vector<SMGroup> halves = all.fractions({0.5, 0.5});
    EXPECT_EQ(halves[0].count % unit, 0u);
    EXPECT_EQ(all.split(halves).groups.size(), 2u);
  }
  EXPECT_THROW(all.fractions({0.0}), ValueError);
  EXPECT_THROW(all.fractions({1.5}), ValueError);
  EXPECT_THROW(all.fractions({0.75, 0.5}), ValueError);
  EXPECT_THROW(all.fractions({1e-6}), ValueError);
}

TEST_F(GreenContext, a_context_on_a_part_of_the_device_is_green_and_not_current) {
  device().set_current();
  const SMSplit split = device().resources().sm().split({smallest()});
  const Context context = device().create_context({.resources = {split.groups[0]}});
  EXPECT_TRUE(context.is_green());
  EXPECT_FALSE(context.is_primary());
  EXPECT_NE(context.green_handle(), nullptr);
  EXPECT_FALSE(context.is_current());
  EXPECT_EQ(context.device(), device());
  EXPECT_FALSE(context == device().context());
  EXPECT_EQ(context.resources().sm().sm_count(), split.groups[0].sm_count());
  EXPECT_EQ(Context::current(), device().context()) << "the caller's context was not left as it was";
}

TEST_F(GreenContext, streams_and_events_belong_to_it) {
  const Context context = make();
  const Stream stream = context.create_stream();
  EXPECT_TRUE(stream.is_nonblocking());
  EXPECT_EQ(stream.context(), context);
  EXPECT_TRUE(stream.context().is_green());
  EXPECT_EQ(stream.device(), device());
  EXPECT_EQ(stream.resources().sm().sm_count(), context.resources().sm().sm_count());
  const Event event = stream.record();
  EXPECT_EQ(event.context(), context);
  event.sync();
  EXPECT_TRUE(event.is_done());
}

TEST_F(GreenContext, a_stream_that_somebody_else_wraps_is_known_to_be_green) {
  const Context context = make();
  const Stream stream = context.create_stream();
  EXPECT_TRUE(Context::from_handle(context.handle()).is_green());
  EXPECT_TRUE(Stream::from_handle(stream.handle()).context().is_green());
}

TEST_F(GreenContext, its_streams_are_non_blocking_only) {
  const Context context = make();
  EXPECT_THROW(context.create_stream({.nonblocking = false}), ValueError);
  EXPECT_TRUE(says(refusal([&] { context.create_stream({.nonblocking = false}); }), "must be non-blocking"));
  EXPECT_THROW(context.create_stream({.priority = 1000}), ValueError);
  const PriorityRange range = device().priority_range();
  EXPECT_EQ(context.create_stream({.priority = range.highest}).priority(), range.highest);
}

TEST_F(GreenContext, kernels_and_memory_are_those_of_the_primary_context) {
  const Stream usual = device().create_stream();
  const Buffer out = device().allocate(4, usual);
  out.fill(std::uint32_t{0}, usual);
  usual.sync();
  const Kernel count = kernel("count_threads");
  launch(usual, {.grid = {2}, .block = {32}}, count, out);
  usual.sync();
  {
    const Context context = make();
    const Stream stream = context.create_stream();
    launch(stream, {.grid = {3}, .block = {32}}, count, out);
    stream.sync();
  }
  launch(usual, {.grid = {1}, .block = {32}}, count, out);
  EXPECT_EQ(read<std::uint32_t>(out, usual)[0], 6u * 32u);
}

TEST_F(GreenContext, a_variable_is_one_for_all_contexts_of_the_device) {
  const ObjectCode code = ObjectCode::from_ptx(kernels_ptx());
  device().set_current();
  const DevicePointer here = code.get_global("counter").address;
  const Context context = make();
  const ScopedCurrent scope(context);
  EXPECT_EQ(code.get_global("counter").address, here);
}

TEST_F(GreenContext, timers_and_streams_of_other_contexts_work_with_it) {
  const Context context = make();
  const Stream stream = context.create_stream();
  const Stream usual = device().create_stream();
  stream.wait(usual);
  usual.wait(stream);
  Timer timer(stream);
  timer.stop();
  EXPECT_GE(timer.milliseconds(), 0.0f);
  usual.sync();
}

TEST_F(GreenContext, what_was_made_in_it_keeps_it) {
  Context context = make();
  Stream stream = context.create_stream();
  context.close();
  EXPECT_FALSE(context.is_green());
  EXPECT_THROW(context.resources(), StateError);
  EXPECT_TRUE(stream.context().is_green());
  stream.sync();
  const Event event = stream.record();
  stream.close();
  event.sync();
  EXPECT_TRUE(event.context().is_green());
}

TEST_F(GreenContext, can_be_made_current_and_left_again) {
  std::thread([] {
    const Context context = make();
    {
      const ScopedCurrent scope(context);
      EXPECT_TRUE(context.is_current());
      EXPECT_TRUE(Context::current().is_green());
      EXPECT_EQ(Context::current(), context);
      Stream::legacy_default().sync();
    }
    EXPECT_FALSE(Context::current());
  }).join();
}

TEST_F(GreenContext, syncing_the_device_waits_for_its_work) {
  const Context context = make();
  const Stream stream = context.create_stream();
  const Stream usual = device().create_stream();
  const Buffer out = device().allocate(8, usual);
  usual.sync();
  launch(stream, {}, kernel("spin"), out, std::uint64_t{200000});
  const Event done = stream.record();
  context.sync();
  EXPECT_TRUE(done.is_done());
}

TEST_F(GreenContext, is_made_of_something_of_its_own_device) {
  EXPECT_THROW(device().create_context({}), ValueError);
  if (Device::count() < 2) return;
  const SMSplit other = Device(1).resources().sm().split({smallest()});
  EXPECT_THROW(device().create_context({.resources = {other.groups[0]}}), ValueError);
  EXPECT_TRUE(says(refusal([&] { device().create_context({.resources = {other.groups[0]}}); }), "Device 1"));
}

TEST_F(GreenContext, a_remainder_of_nothing_makes_no_context) {
  const SMResource all = device().resources().sm();
  const SMSplit split = all.split({{.count = all.sm_count()}});
  if (split.remainder.sm_count() != 0) GTEST_SKIP() << "this device always has SMs left";
  EXPECT_THROW(device().create_context({.resources = {split.remainder}}), DriverError);
}

TEST_F(GreenContext, a_partition_makes_a_context_of_each_group) {
  const SMResource all = device().resources().sm();
  const unsigned unit = std::max(all.min_partition_size(), all.coscheduled_alignment());
  if (all.sm_count() < 2 * unit) GTEST_SKIP() << "too few multiprocessors for two groups";
  const std::vector<Context> contexts = device().partition({{.count = unit}, {.count = unit}});
  ASSERT_EQ(contexts.size(), 2u);
  for (const Context& context : contexts) EXPECT_EQ(context.resources().sm().sm_count(), unit);
  EXPECT_FALSE(contexts[0] == contexts[1]);
}

TEST_F(GreenContext, work_queues_are_configured_before_they_are_used) {
  WorkqueueResource queues = [] {
    try {
      return device().resources().workqueue();
    } catch (const UnavailableError& error) {
      EXPECT_TRUE(says(error.what(), "13.1"));
      return WorkqueueResource(nullptr);
    }
  }();
  if (!has_structured_split()) GTEST_SKIP() << "work queues need a driver of CUDA 13.1";
  EXPECT_GE(queues.concurrency_limit(), 1u);
  EXPECT_EQ(queues.device(), device());
  queues.configure({});
  queues.configure({.sharing_scope = WorkqueueSharingScope::green_ctx_balanced, .concurrency_limit = 2});
  EXPECT_EQ(queues.sharing_scope(), WorkqueueSharingScope::green_ctx_balanced);
  EXPECT_EQ(queues.concurrency_limit(), 2u);
  EXPECT_THROW(queues.configure({.concurrency_limit = 0}), ValueError);
  EXPECT_EQ(queues.concurrency_limit(), 2u);
  const SMSplit split = device().resources().sm().split({smallest()});
  const Context context = device().create_context({.resources = {split.groups[0], queues}});
  EXPECT_EQ(context.resources().workqueue().concurrency_limit(), 2u);
  EXPECT_NE(device().resources().workqueue().sharing_scope(), WorkqueueSharingScope::green_ctx_balanced);
}

}  // namespace
}  // namespace cucore::test
