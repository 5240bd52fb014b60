// Which kernels count on lanes of a warp running in step (lockstep.hpp), and that they get it in both forms.
#include <gtest/gtest.h>

#include "cpu/analysis/reach_and_waits.hpp"
#include "cpu/ptx/parser.hpp"
#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {

namespace {

/// A kernel that has shared memory, `%w` the thread's own place there and `%g` a generic address.
std::string kernel_of(const std::string& body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 cells[4096];\n"
         ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
         "  .reg .u32 %t, %w, %v, %x, %y;\n  .reg .u64 %g, %out, %a;\n  .reg .pred %p;\n"
         "  ld.param.u64 %g, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %t, %tid.x;\n  mov.u32 %w, cells;\n"
         "  mad.lo.u32 %w, %t, 4, %w;\n  mul.wide.u32 %a, %t, 4;\n  add.u64 %out, %out, %a;\n  mov.u32 %v, %t;\n" +
         body + "  st.global.u32 [%out], %v;\n  ret;\n}\n";
}

/// Lines of the body before which lanes wait for each other, from 1 on.
std::vector<std::uint32_t> points_in(const std::string& body, const analysis::BlockShape& shape = {}) {
  const std::string text = kernel_of(body);
  const ptx::ParseResult parsed = ptx::parse(text);
  EXPECT_NE(nullptr, parsed.module) << ptx::format(parsed.diagnostics);
  const analysis::Reach reach = analysis::find_reach_and_waits(*parsed.module, 0, shape);
  std::vector<std::uint32_t> lines;
  for (const auto& [function, points] : reach.lockstep)
    for (const auto& [point, place] : points)
      lines.push_back(parsed.module->functions[function].body[point].position.line - 17);
  EXPECT_TRUE(lines.empty() || reach.needs_fibers);
  return lines;
}

/// Threads of other warps must have loaded before one stores.
bool goes_beyond_warps(const std::string& body, const analysis::BlockShape& shape = {}) {
  const std::string text = kernel_of(body);
  return analysis::find_reach_and_waits(*ptx::parse(text).module, 0, shape).gives_anew;
}

bool wait_alike(const std::string& body, const analysis::BlockShape& one, const analysis::BlockShape& other) {
  const std::string text = kernel_of(body);
  return analysis::waits_alike(*ptx::parse(text).module, 0, one, other);
}

using Lines = std::vector<std::uint32_t>;

constexpr const char* exchange =
    "  st.volatile.shared.u32 [%w], %v;\n"
    "  ld.volatile.shared.u32 %x, [%w+4];\n"
    "  ld.volatile.shared.u32 %y, [%w+8];\n"
    "  add.u32 %v, %x, %y;\n"
    "  st.volatile.shared.u32 [%w], %v;\n";

TEST(Lockstep, is_before_each_volatile_access_that_another_lanes_may_disturb) {
  EXPECT_EQ((Lines{2, 5}), points_in(exchange));  // loads after loads need no more
}

TEST(Lockstep, is_not_where_a_barrier_stands_between_the_accesses) {
  for (const std::string barrier : {"  bar.sync 0;\n", "  bar.warp.sync -1;\n"}) {
    EXPECT_EQ(Lines{},
              points_in("  st.volatile.shared.u32 [%w], %v;\n" + barrier + "  ld.volatile.shared.u32 %x, [%w+4];\n" +
                        barrier + "  st.volatile.shared.u32 [%w], %x;\n"));
  }
}

TEST(Lockstep, is_for_volatile_accesses_of_global_memory_too) {
  EXPECT_EQ((Lines{2, 3}), points_in("  st.volatile.global.u32 [%out], %v;\n  ld.volatile.global.u32 %x, [%out+4];\n"));
}

TEST(Lockstep, is_between_plain_accesses_of_places_of_other_lanes) {
  EXPECT_EQ((Lines{2, 3}), points_in("  st.shared.u32 [%w], %v;\n"
                                     "  ld.shared.u32 %x, [%w+4];\n"
                                     "  st.shared.u32 [%w], %x;\n"));
  // The third is where the kernel writes its result.
  EXPECT_EQ((Lines{2, 3}), points_in("  st.global.u32 [%out], %v;\n  ld.global.u32 %x, [%out+4];\n"));
  // Behind a vote the lanes are together; nobody goes on to the next iteration alone.
  EXPECT_EQ((Lines{6, 7, 9}), points_in("  st.shared.u32 [%w], %v;\n"
                                        "  vote.sync.any.pred %p, %p, -1;\n"
                                        "AGAIN:\n"
                                        "  xor.b32 %y, %t, 1;\n"
                                        "  mad.lo.u32 %y, %y, 4, %w;\n"
                                        "  ld.shared.u32 %x, [%y];\n"
                                        "  st.shared.u32 [%w], %x;\n"
                                        "  setp.eq.u32 %p, %x, 0;\n"
                                        "  @%p bra AGAIN;\n"));
}

TEST(Lockstep, is_between_plain_loads_and_stores_to_what_other_lanes_load) {
  EXPECT_EQ(Lines{2}, points_in("  ld.shared.u32 %x, [%w+4];\n"
                                "  st.shared.u32 [%w], %x;\n"));
  // One place for all lanes, that one of them stores.
  EXPECT_EQ(Lines{2}, points_in("  ld.shared.u32 %x, [cells+8];\n"
                                "  st.shared.u32 [%w], %x;\n"
                                "  vote.sync.any.pred %p, %p, -1;\n"));
  EXPECT_EQ(Lines{}, points_in("  ld.shared.u32 %x, [cells+8];\n"
                               "  bar.warp.sync -1;\n"
                               "  st.shared.u32 [%w], %x;\n"));
  EXPECT_EQ(Lines{2}, points_in("  ld.shared.u32 %x, [cells+8];\n"
                                "  st.shared.u32 [%w], %x;\n"));
  // All lanes, or those that are below the distance, which do not meet.
  const auto tree = [](const std::string& guard) {
    return "  mov.u32 %y, 64;\nAGAIN:\n" + guard +
           "  add.u32 %x, %w, %y;\n  ld.shared.u32 %x, [%x];\n  st.shared.u32 [%w], %x;\nNEXT:\n  bar.sync 0;\n"
           "  shr.u32 %y, %y, 1;\n  setp.ne.u32 %p, %y, 0;\n  @%p bra AGAIN;\n";
  };
  EXPECT_EQ((Lines{5, 10}), points_in(tree("")));
  EXPECT_EQ(Lines{}, points_in(tree("  shr.u32 %x, %y, 2;\n  setp.ge.u32 %p, %t, %x;\n  @%p bra NEXT;\n")));
}

TEST(Lockstep, goes_beyond_warps_where_all_rows_of_a_block_change_the_same_places) {
  const std::string global = "  ld.global.u32 %x, [%out];\n  add.u32 %v, %x, %v;\n";
  const std::string shared = "  ld.shared.u32 %x, [%w];\n  add.u32 %x, %x, %v;\n  st.shared.u32 [%w], %x;\n";
  for (const std::string& changed : {global, shared}) {
    using Shape = analysis::BlockShape;
    for (const Shape& block : {Shape{16, 16, 1}, Shape{32, 8, 1}, Shape{64, 4, 1}, Shape{48, 3, 1}, Shape{32, 1, 8}}) {
      EXPECT_EQ(block, analysis::shape_of_warps({block.x, block.y, block.z}));
      EXPECT_TRUE(goes_beyond_warps(changed, block)) << block.x << "\n" << changed;
    }
    EXPECT_FALSE(goes_beyond_warps(changed, analysis::shape_of_warps({256, 1, 1})));
    EXPECT_FALSE(wait_alike(changed, analysis::shape_of_warps({32, 8, 1}), {})) << "so that each has its own code";
    // One row of them, each its own place, a barrier.
    EXPECT_FALSE(
        goes_beyond_warps("  mov.u32 %y, %tid.y;\n  setp.ne.u32 %p, %y, 0;\n  @%p ret;\n" + changed, {32, 8, 1}));
    EXPECT_FALSE(
        goes_beyond_warps("  mov.u32 %y, %tid.y;\n  mad.lo.u32 %w, %y, 128, %w;\n"
                          "  mad.wide.u32 %out, %y, 128, %out;\n" +
                              changed,
                          {32, 8, 1}));
    // So far apart as only the host knows.
    EXPECT_FALSE(
        goes_beyond_warps("  mov.u32 %y, %tid.y;\n  mov.u32 %x, %nctaid.x;\n  mul.lo.u32 %y, %y, %x;\n"
                          "  mad.lo.u32 %w, %y, 128, %w;\n  mad.wide.u32 %out, %y, 128, %out;\n" +
                              changed,
                          {32, 8, 1}));
  }
  EXPECT_FALSE(goes_beyond_warps(global + "  bar.sync 0;\n", {32, 8, 1}));
  EXPECT_TRUE(wait_alike("", {32, 8, 1}, {}));
}

TEST(Lockstep, goes_beyond_warps_where_the_next_ones_lanes_load_what_is_stored) {
  const auto passes_on = [](const std::string& from) {
    return "AGAIN:\n  bar.sync 0;\n  ld.shared.u32 %x, [" + from +
           "];\n  st.shared.u32 [%w], %x;\n  setp.ne.u32 %p, %v, 0;\n  @%p bra AGAIN;\n";
  };
  EXPECT_TRUE(goes_beyond_warps(passes_on("%w+4")));
  EXPECT_TRUE(goes_beyond_warps("  setp.eq.u32 %p, %t, 0;\n  @%p bra AGAIN;\n" + passes_on("%w+-4")));
  EXPECT_FALSE(goes_beyond_warps(passes_on("%w+4"), {32, 1, 1}));
  EXPECT_FALSE(goes_beyond_warps(passes_on("%w")));
  // The next warp's own place, a column that all warps go through, and a row of it that is each warp's.
  EXPECT_TRUE(goes_beyond_warps(passes_on("%w+128")));
  const std::string column =
      "  .reg .u32 %c<5>;\n  and.b32 %c0, %t, 31;\n  mov.u32 %y, cells;\n  mad.lo.u32 %c1, %c0, 4, %y;\n"
      "  mov.u32 %c2, %c1;\nLOOP:\n  ld.shared.u32 %x, [%c2];\n  add.u32 %c2, %c2, 128;\n"
      "  setp.ne.u32 %p, %x, 0;\n  @%p bra LOOP;\n  shr.u32 %c3, %t, 5;\n  mad.lo.u32 %c4, %c3, 128, %c1;\n";
  EXPECT_TRUE(goes_beyond_warps(column + "  st.shared.u32 [%c4], %v;\n"));
  EXPECT_FALSE(goes_beyond_warps(column + "  bar.sync 0;\n  st.shared.u32 [%c4], %v;\n"));
  // Lanes that turn their numbers stay within the warp.
  EXPECT_FALSE(
      goes_beyond_warps("  xor.b32 %y, %t, 1;\n  mov.u32 %x, cells;\n  mad.lo.u32 %y, %y, 4, %x;\n" + passes_on("%y")));
  // A sum of which each step takes a half of the threads, and one that all take.
  const auto tree = [](const std::string& guard) {
    return "  mov.u32 %y, 64;\nAGAIN:\n" + guard +
           "  add.u32 %x, %w, %y;\n  ld.shared.u32 %x, [%x];\n  st.shared.u32 [%w], %x;\nNEXT:\n  bar.sync 0;\n"
           "  shr.u32 %y, %y, 1;\n  setp.ne.u32 %p, %y, 0;\n  @%p bra AGAIN;\n";
  };
  EXPECT_FALSE(goes_beyond_warps(tree("  shr.u32 %x, %y, 2;\n  setp.ge.u32 %p, %t, %x;\n  @%p bra NEXT;\n")));
  EXPECT_TRUE(goes_beyond_warps(tree("")));
}

TEST(Lockstep, is_not_between_plain_accesses_of_a_lanes_own_places) {
  EXPECT_EQ(Lines{}, points_in("  st.shared.u32 [%w], %v;\n  ld.shared.u32 %x, [%w];\n"));
  EXPECT_EQ(Lines{}, points_in("  st.shared.u32 [%w], %v;\n  ld.shared.u32 %x, [%w+128];\n"));  // of another warp
  EXPECT_EQ(Lines{}, points_in("  st.shared.u32 [%w], %v;\n  bar.sync 0;\n  ld.shared.u32 %x, [%w+4];\n"));
  // Rows of four words.
  EXPECT_EQ(Lines{}, points_in("  mad.lo.u32 %y, %t, 12, %w;\n  st.shared.u32 [%y], %v;\n"
                               "  ld.shared.v2.u32 {%x, %v}, [%y+8];\n"));
  // A column, a stride apart that only the launch knows, in a loop; and from one part of a grid to the next.
  EXPECT_EQ(Lines{}, points_in("  mov.u32 %x, %ntid.x;\n  mul.wide.u32 %a, %x, 4;\n"
                               "AGAIN:\n  st.global.u32 [%out], %v;\n  add.u64 %out, %out, %a;\n"
                               "  ld.global.u32 %v, [%out];\n  setp.ne.u32 %p, %v, 0;\n  @%p bra AGAIN;\n"));
  // Arrays of different names.
  EXPECT_EQ(Lines{}, points_in("  mul.wide.u32 %a, %t, 4;\n  add.u64 %a, %a, %g;\n"
                               "AGAIN:\n  st.global.u32 [%out], %v;\n  ld.global.u32 %v, [%a+4];\n"
                               "  setp.ne.u32 %p, %v, 0;\n  @%p bra AGAIN;\n"));
}

TEST(Lockstep, is_before_stores_where_other_lanes_loaded_or_stored) {
  EXPECT_EQ((Lines{2}), points_in("  ld.shared.u32 %x, [%w+4];\n  st.shared.u32 [%w], %x;\n"));
  EXPECT_EQ((Lines{2}), points_in("  st.shared.u32 [%w], %v;\n  st.shared.u32 [%w+4], %x;\n"));
  EXPECT_EQ((Lines{2}), points_in("  st.volatile.shared.u32 [%w], %v;\n  st.volatile.shared.u32 [%w+4], %x;\n"));
  // One lane of eight, in what all have cleared; what loads it later waits for a barrier.
  EXPECT_EQ((Lines{6}), points_in("  and.b32 %x, %t, -9;\n  and.b32 %y, %t, -8;\n  add.u32 %y, %y, %w;\n"
                                  "  st.shared.u32 [%w], 0;\n  setp.eq.u32 %p, %x, 0;\n"
                                  "  @%p st.shared.v2.u32 [%w+16], {%v, %v};\n"
                                  "  bar.sync 0;\n  ld.shared.u32 %v, [%w+4];\n"));
}

TEST(Lockstep, is_before_a_store_of_one_thread_where_others_loaded) {
  const std::string load = "  ld.shared.u32 %x, [cells+8];\n", store = "  @%p st.shared.u32 [cells+8], %x;\n";
  const std::string first = "  setp.eq.u32 %p, %t, 0;\n";
  EXPECT_EQ(Lines{3}, points_in(load + first + store));
  EXPECT_EQ(Lines{}, points_in(load + first + "  bar.sync 0;\n" + store));
  EXPECT_EQ(Lines{}, points_in(load + first + "  @%p st.shared.u32 [cells+12], %x;\n"));
  // Who stores has loaded alone, or may be anybody.
  EXPECT_EQ(Lines{}, points_in(first + "  @%p ld.shared.u32 %x, [cells+8];\n" + store));
  EXPECT_EQ(Lines{}, points_in(load + "  setp.eq.u32 %p, %x, 0;\n" + store));
}

TEST(Lockstep, is_not_before_stores_that_lanes_do_not_come_to_which_could_disturb) {
  EXPECT_EQ(Lines{},
            points_in("  ld.shared.u32 %x, [%w];\n  st.shared.u32 [%w], %x;\n  st.shared.u32 [%w+4096], %x;\n"));
  // The steps of a tree, and a row of less than a warp's cells after the other.
  EXPECT_EQ(Lines{}, points_in("  setp.gt.u32 %p, %t, 7;\n  @%p bra NEXT;\n  ld.shared.u32 %x, [%w+32];\n"
                               "  st.shared.u32 [%w], %x;\nNEXT:\n  bar.sync 0;\n"
                               "  setp.lt.u32 %p, %t, 4;\n  @%p ld.shared.u32 %x, [%w+16];\n"
                               "  @%p st.shared.u32 [%w], %x;\n"));
  EXPECT_EQ(Lines{}, points_in("  setp.ge.u32 %p, %t, 12;\n  @%p bra NEXT;\n  st.shared.u32 [%w], %x;\n"
                               "  st.shared.u32 [%w+48], %x;\nNEXT:\n"));
  // Distances that only the launch knows.
  EXPECT_EQ(Lines{}, points_in("  mov.u32 %x, %ntid.x;\n  mad.lo.u32 %y, %x, 4, %w;\n"
                               "  ld.shared.u32 %x, [%y];\n  st.shared.u32 [%w], %x;\n"));
}

TEST(Lockstep, is_not_where_rows_that_are_less_than_a_warp_keep_lanes_apart) {
  // Sums of every other row, of every fourth.
  constexpr analysis::BlockShape rows_of_16{16, 16, 1};
  const std::string row =
      "  mov.u32 %y, %tid.y;\n  mad.lo.u32 %w, %y, 64, %w;\n  st.shared.u32 [%w], %v;\n  bar.sync 0;\n";
  for (const std::string guard :
       {"  and.b32 %x, %y, 3;\n  setp.ne.b32 %p, %x, 0;\n  @%p bra NEXT;\n",
        "  rem.u32 %x, %y, 4;\n  setp.eq.u32 %p, %x, 0;\n  not.pred %p, %p;\n  @%p bra NEXT;\n",
        "  shr.u32 %x, %y, 2;\n  shl.b32 %x, %x, 2;\n  setp.ne.u32 %p, %x, %y;\n  @%p bra NEXT;\n",
        "  .reg .pred %q;\n  mov.pred %q, 0;\n  and.b32 %x, %y, 1;\n  setp.eq.b32 %p, %x, 1;\n"
        "  xor.pred %p, %p, %q;\n  @%p bra NEXT;\n"}) {
    const std::string sums = row + guard + "  ld.shared.u32 %x, [%w+64];\n  st.shared.u32 [%w], %x;\nNEXT:\n";
    EXPECT_EQ(Lines{}, points_in(sums, rows_of_16)) << guard;
    // Where a warp is in one row, the rows overlap, and it has a place behind its lanes'.
    EXPECT_EQ(1, points_in(sums).size()) << guard;
  }
  // All rows take the next one's: where two rows are a warp's, so does one that is stored.
  EXPECT_EQ((Lines{6}), points_in(row + "  ld.shared.u32 %x, [%w+64];\n  st.shared.u32 [%w], %x;\n", rows_of_16));
  // The next row is another warp's, and so it is where one stores first.
  EXPECT_EQ((Lines{6}), points_in(row + "  ld.shared.u32 %x, [%w+128];\n  st.shared.u32 [%w], %x;\n", rows_of_16));
  EXPECT_EQ(Lines{}, points_in(row + "  ld.shared.u32 %x, [%w+256];\n  st.shared.u32 [%w], %x;\n", rows_of_16));
  // Rows of a warp or more.
  EXPECT_EQ((Lines{6}), points_in("  mov.u32 %y, %tid.y;\n  mad.lo.u32 %w, %y, 128, %w;\n  st.shared.u32 [%w], %v;\n"
                                  "  bar.sync 0;\n  ld.shared.u32 %x, [%w+64];\n  st.shared.u32 [%w], %x;\n"));
}

TEST(Lockstep, is_for_places_behind_an_array_too) {
  const auto steps = [](const char* words) {
    return std::string("  .shared .align 4 .b8 own[") + words +
           "];\n  mov.u32 %w, own;\n  mad.lo.u32 %w, %t, 4, %w;\n  st.shared.u32 [%w], %v;\n"
           "  st.shared.u32 [%w+64], %v;\n";
  };
  EXPECT_EQ(Lines{}, points_in(steps("128"), {16, 1, 1}));
  // Arrays may be left: what is behind them is others'.
  EXPECT_EQ((Lines{5}), points_in(steps("128")));
  EXPECT_EQ((Lines{5}), points_in(steps("192")));
}

TEST(Lockstep, is_along_columns_and_through_places_of_every_kind) {
  const std::string row = "  mov.u32 %y, %tid.y;\n  mad.lo.u32 %w, %y, 132, %w;\n";
  constexpr analysis::BlockShape one_warp{8, 4, 1};
  // The next row's, in rows with padding.
  EXPECT_EQ((Lines{4}), points_in(row + "  st.shared.u32 [%w], %v;\n  ld.shared.u32 %x, [%w+132];\n", one_warp));
  EXPECT_EQ(Lines{}, points_in(row + "  st.shared.u32 [%w], %v;\n  ld.shared.u32 %x, [%w+132];\n"));
  // A lane's number that is turned.
  EXPECT_EQ((Lines{6}), points_in("  st.shared.u32 [%w], %v;\n  add.u32 %y, %t, 5;\n  and.b32 %y, %y, 31;\n"
                                  "  mov.u32 %x, cells;\n  mad.lo.u32 %y, %y, 4, %x;\n  ld.shared.u32 %x, [%y];\n"));
  // One lane stores what all load, and what one of all changes that have loaded it.
  EXPECT_EQ((Lines{3}), points_in("  setp.eq.u32 %p, %t, 3;\n  @%p st.shared.u32 [cells+8], %v;\n"
                                  "  ld.shared.u32 %x, [cells+8];\n"));
  EXPECT_EQ((Lines{3}), points_in("  ld.shared.u32 %x, [cells+8];\n  setp.eq.u32 %p, %t, 3;\n"
                                  "  @%p st.shared.u32 [cells+8], %v;\n"));
  EXPECT_EQ(Lines{}, points_in("  setp.eq.u32 %p, %t, 3;\n  @%p st.shared.u32 [cells+8], %v;\n"
                               "  @%p ld.shared.u32 %x, [cells+8];\n"));
  // A barrier for a part of the warp, of which others come.
  EXPECT_EQ((Lines{3}),
            points_in("  st.shared.u32 [%w], %v;\n  bar.warp.sync 0xffff;\n  ld.shared.u32 %x, [%w+64];\n"));
}

TEST(Lockstep, is_in_blocks_of_one_warp_though_nothing_else_tells_of_lanes) {
  // A register that is shifted around: `next = state[(t + 1) % n]; state[t] = next;`, again and again.
  const std::string turn =
      "  ld.param.u32 %y, [out];\n  add.u32 %x, %t, 1;\n  rem.u32 %x, %x, %y;\n  mul.wide.u32 %a, %x, 4;\n"
      "  add.u64 %a, %a, %g;\n  mul.wide.u32 %out, %t, 4;\n  add.u64 %out, %out, %g;\n";
  const std::string once = "  ld.global.u32 %x, [%a];\n  st.global.u32 [%out], %x;\n";
  const std::string loop = "AGAIN:\n" + once + "  setp.ne.u32 %p, %x, 0;\n  @%p bra AGAIN;\n";
  constexpr analysis::BlockShape part{9, 1, 1}, whole{32, 1, 1};
  for (const analysis::BlockShape& one_warp : {part, whole}) {
    EXPECT_EQ(one_warp, analysis::shape_of_warps({one_warp.x, one_warp.y, one_warp.z}));
    EXPECT_EQ((Lines{9, 10}), points_in(turn + once, one_warp));
    EXPECT_EQ((Lines{9, 10, 12, 13}), points_in(turn + loop, one_warp));
  }
  EXPECT_EQ(analysis::BlockShape{}, analysis::shape_of_warps({64, 1, 1}));
  EXPECT_FALSE(wait_alike(turn + once, whole, {})) << "and so longer blocks have other code";
  EXPECT_TRUE(wait_alike(turn + once, whole, part));
  EXPECT_TRUE(wait_alike("", whole, {}));
  EXPECT_EQ(Lines{}, points_in(turn + loop));
  // Columns stay each lane's own.
  EXPECT_EQ(Lines{}, points_in("  ld.shared.u32 %x, [cells];\n  mad.lo.u32 %y, %x, 128, %w;\n"
                               "AGAIN:\n  ld.shared.u32 %v, [%y];\n  add.u32 %v, %v, 1;\n  st.shared.u32 [%y], %v;\n"
                               "  ld.global.u32 %x, [%out+512];\n  mad.lo.u32 %y, %x, 128, %w;\n"
                               "  setp.ne.u32 %p, %x, 0;\n  @%p bra AGAIN;\n",
                               whole));
}

TEST(Lockstep, is_not_where_each_lane_has_a_column) {
  // A counter of two bytes in a column of words, in the row that was loaded, which the lane itself has cleared.
  const auto counts = [](const char* rows) {
    return std::string(
               "  .reg .u64 %c;\n  st.shared.u32 [%w+512], 0;\n  ld.global.u32 %x, [%out];\n"
               "  and.b32 %x, %x, 15;\n  shl.b32 %y, %x, 7;\n  and.b32 %y, %y, ") +
           rows +
           ";\n  shr.u32 %x, %x, 3;\n  shl.b32 %x, %x, 1;\n  add.u32 %y, %y, %w;\n  add.u32 %y, %y, %x;\n"
           "  vote.sync.any.pred %p, 1, -1;\n  st.shared.u32 [%w+512], 0;\n  ld.shared.u16 %v, [%y];\n"
           "  st.shared.u16 [%y], %v;\n";
  };
  EXPECT_EQ(Lines{}, points_in(counts("0x380")));
  EXPECT_EQ((Lines{13, 14}), points_in(counts("0x3c0")));  // half a warp's
}

TEST(Lockstep, knows_what_a_register_holds_that_is_written_again_later) {
  EXPECT_EQ(Lines{}, points_in("  setp.gt.u32 %p, %t, 7;\n  @%p bra NEXT;\n  mov.u32 %y, cells;\n"
                               "  mad.lo.u32 %y, %t, 4, %y;\n  ld.shared.u32 %x, [%y+32];\n  st.shared.u32 [%y], %x;\n"
                               "NEXT:\n  @%p bra END;\n  add.u32 %t, %t, 1;\n  st.global.u32 [%out], %t;\nEND:\n"));
}

TEST(Lockstep, is_for_generic_addresses_too_but_not_for_loads_that_only_wait) {
  EXPECT_EQ((Lines{2}), points_in("  st.volatile.u32 [%g], %v;\n  ld.volatile.u32 %x, [%g+4];\n"));
  EXPECT_EQ(Lines{}, points_in("  st.volatile.u32 [%g], %v;\n"
                               "AGAIN:\n  ld.volatile.u32 %x, [%g+4];\n  setp.eq.u32 %p, %x, 0;\n  @%p bra AGAIN;\n"));
}

TEST(Lockstep, is_in_loops_where_the_last_iterations_store_precedes_the_load) {
  EXPECT_EQ((Lines{2, 3, 6}), points_in("AGAIN:\n"
                                        "  ld.volatile.shared.u32 %x, [%w+4];\n"
                                        "  st.volatile.shared.u32 [%w], %x;\n"
                                        "  sub.u32 %v, %v, 1;\n"
                                        "  setp.gt.s32 %p, %v, 0;\n"
                                        "  @%p bra AGAIN;\n"));
}

TEST(Lockstep, gives_every_form_the_values_of_lanes_in_step) {
  for (const auto form : {FormOfCode::Scalar, FormOfCode::Vector, FormOfCode::Masked}) {
    TestModule module(kernel_of("  bar.sync 0;\n" + std::string(exchange) + "  ld.volatile.shared.u32 %v, [%w+4];\n"),
                      form);
    std::vector<std::uint32_t> out(64, 0);
    module.launch("k", {1}, {64}, nullptr, out.data());
    EXPECT_EQ("", module.refusal);
    for (std::uint32_t t = 0; t < 28; ++t) EXPECT_EQ((t + 2) + (t + 3), out[t]) << t;
  }
}

/// As gcc's offloading compiler writes it: 32 lanes are one thread, of which the first does atomic operations, and what
/// gives a lock back stands behind a fence. `lanes`: what the word of the warp says, 0 where all are one.
std::string uniform_simt(const std::string& lanes) {
  return ".version 6.0\n.target sm_35\n.address_size 64\n.visible .shared .u32 __nvptx_uni[32];\n"
         ".global .u32 word = 7;\n"
         ".func step(.param .u64 to)\n{\n  .reg .u64 %to, %a, %own;\n  .reg .u32 %v, %m, %l, %zero;\n  .reg .pred %p;\n"
         "  ld.param.u64 %to, [to];\n  mov.u64 %a, __nvptx_uni;\n  ld.shared.u32 %m, [%a];\n  mov.u32 %l, %laneid;\n"
         "  and.b32 %m, %m, %l;\n  setp.eq.u32 %p, %m, %l;\n  mad.wide.u32 %own, %l, 4, %to;\n"
         "  ld.u32 %v, [word];\n  @%p membar.sys;\n  @%p atom.exch.b32 _, [word], 5;\n  bar.warp.sync 0xffffffff;\n"
         "  st.u32 [%own], %v;\n"
         "  membar.sys;\n  mov.u32 %zero, 0;\n  st.u32 [%own+128], %zero;\n  ret;\n}\n"
         ".visible .entry k(.param .u64 out)\n{\n  .reg .u64 %out, %a;\n  ld.param.u64 %out, [out];\n"
         "  mov.u64 %a, __nvptx_uni;\n  st.shared.u32 [%a], " +
         lanes +
         ";\n  bar.sync 0;\n  { .param .u64 %P<1>;\n  st.param.u64 [%P0], %out;\n  call step, (%P0); }\n  ret;\n}\n";
}

TEST(Lockstep, is_in_all_of_what_lanes_run_as_one_thread_and_one_lane_gives_a_lock_back) {
  for (const auto form : {FormOfCode::Scalar, FormOfCode::Vector, FormOfCode::Masked}) {
    for (const bool is_one : {true, false}) {
      TestModule module(uniform_simt(is_one ? "0" : "-1"), form);
      std::vector<std::uint32_t> out(64, 9);
      module.launch("k", {1}, {32}, out.data());
      EXPECT_EQ("", module.refusal);
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(7, out[lane]) << "loaded before the first lane stored, by lane " << lane;
        EXPECT_EQ(is_one && lane != 0 ? 9 : 0, out[32 + lane]) << "stored by lane " << lane;
      }
    }
  }
}

}  // namespace

}  // namespace cucore::cpu
