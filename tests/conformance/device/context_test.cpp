// Contexts.
#include <gtest/gtest.h>

#include <thread>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

TEST(context, of_a_device_is_its_primary_one_and_always_the_same) {
  const Context context = device().context();
  EXPECT_TRUE(context);
  EXPECT_TRUE(context.is_primary());
  EXPECT_EQ(context, device().context());
  EXPECT_EQ(context.device(), device());
  EXPECT_NE(context.handle(), nullptr);
}

TEST(context, from_a_known_handle_is_recognised) {
  const Context context = device().context();
  const Context again = Context::from_handle(context.handle());
  EXPECT_EQ(context, again);
  EXPECT_TRUE(again.is_primary());
}

TEST(context, creates_streams_and_events_that_know_it) {
  const Context context = device().context();
  const Stream stream = context.create_stream();
  EXPECT_EQ(stream.context(), context);
  EXPECT_EQ(stream.device(), device());
  const Event event = context.create_event({.timing_enabled = true});
  EXPECT_EQ(event.context(), context);
  EXPECT_EQ(event.device(), device());
}

TEST(context, is_current_only_where_it_was_set) {
  std::thread([] {
    const Context context = device().context();
    EXPECT_FALSE(context.is_current());
    context.set_current();
    EXPECT_TRUE(context.is_current());
    EXPECT_TRUE(Context::current() == context);
  }).join();
}

TEST(context, closes_its_reference_and_not_what_was_made_in_it) {
  Context context = device().context();
  const Stream stream = context.create_stream();
  context.close();
  context.close();
  EXPECT_FALSE(context);
  EXPECT_EQ(context.handle(), nullptr);
  stream.sync();
  EXPECT_TRUE(stream.context());
}

TEST(context, sync_waits_for_all_streams) {
  const Stream a = device().create_stream();
  const Stream b = device().create_stream();
  const Buffer out = device().allocate(8, a);
  launch(a, {}, kernel("spin"), out, std::uint64_t{20000});
  b.record();
  device().context().sync();
  EXPECT_TRUE(a.is_done());
  EXPECT_TRUE(b.is_done());
}

TEST(context, is_current_for_the_length_of_a_scope) {
  std::thread([] {
    const Context context = device().context();
    {
      const ScopedCurrent scope(context);
      EXPECT_TRUE(context.is_current());
      const ScopedCurrent again(context);
    }
    EXPECT_FALSE(Context::current());
    context.set_current();
    Context::set_none_current();
    EXPECT_FALSE(context.is_current());
    EXPECT_TRUE(says(refusal([] { const ScopedCurrent scope{Context()}; }), "has been closed"));
  }).join();
}

}  // namespace
}  // namespace cucore::test
