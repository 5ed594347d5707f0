// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to attention; its card configures those of every operation.
#include "ops/attention/attention.h"

#include <map>

#include "runtime/device.h"
#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/contract/samples.h"
#include "tests/ops/attention/family.h"
#include "tests/ops/attention/libraries.h"
#include "tests/ops/attention/wgmma_tests.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

// Grouped heads give the same bits as repeated heads of K and V.
KG_OWN_TEST(GroupedHeadsShareKeys) {
  const GroupedHeads heads = grouped_heads(judge.dtype());
  judge.each_variant(heads.few, [&](const Variant& variant) {
    for (const char* const output : {"out", "log_sum"})
      EXPECT_EQ(judge.run(variant.name, heads.few).bits(output),
                judge.run(variant.name, heads.all).bits(output))
          << variant.name << ": " << output;
  });
}

KG_OWN_TEST(MasksThatHideNothing) {
  const Sample causal{"normal", "b2_h1_q70_k70_d64_causal"};
  const std::vector<Sample> others = masks_that_hide_nothing();
  judge.each_variant(causal, [&](const Variant& variant) {
    for (const Sample& same : others)
      EXPECT_EQ(judge.run(variant.name, causal).bits("out"),
                judge.run(variant.name, same).bits("out"))
          << variant.name << ": " << same.shape;
  });
}

// Without log_sum the result is the same.
KG_OWN_TEST(LogSumIsOptional) {
  const Sample with{"normal", "b1_h2_q70_k70_d64"};
  Sample without = with;
  without.without = {"log_sum"};
  judge.each_variant(with, [&](const Variant& variant) {
    EXPECT_EQ(judge.run(variant.name, with).bits("out"),
              judge.run(variant.name, without).bits("out"))
        << variant.name;
  });
}

// Indivisible heads, a window without causal, and overlapping rows of out fail before any launch.
KG_OWN_TEST(RefusesOtherProblems) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(4096);
    const DeviceBuffer<float> scores(4096);
    T* const p = data.data();
    const attention::Strides dense{64, 32, 8};
    const attention::Problem<T> valid{.batch = 1,
                                      .heads = 2,
                                      .kv_heads = 1,
                                      .queries = 4,
                                      .keys = 4,
                                      .depth = 8,
                                      .value_depth = 8,
                                      .q = p,
                                      .q_stride = dense,
                                      .k = p + 128,
                                      .k_stride = dense,
                                      .v = p + 256,
                                      .v_stride = dense,
                                      .out = p + 384,
                                      .out_stride = dense,
                                      .workspace = scores.data()};
    const auto refuses = refusing(valid, [&](const auto& wrong) {
      attention::run(wrong, attention::Variant::automatic, judge.stream());
    });
    refuses("kv_heads is 0", [](auto& wrong) { wrong.kv_heads = 0; });
    refuses("3 heads of 2", [](auto& wrong) { wrong.heads = 3, wrong.kv_heads = 2; });
    refuses("a window without causal", [](auto& wrong) { wrong.window = 2; });
    refuses("a negative window", [](auto& wrong) { wrong.causal = true, wrong.window = -1; });
    refuses("no depth", [](auto& wrong) { wrong.depth = 0; });
    refuses("tokens of out overlap", [](auto& wrong) { wrong.out_stride.token = 7; });
    refuses("heads of out overlap", [](auto& wrong) { wrong.out_stride.head = 8; });
    refuses("a negative stride", [](auto& wrong) { wrong.k_stride.token = -8; });
    refuses("2^31 keys", [](auto& wrong) { wrong.keys = std::int64_t{1} << 31; });
    refuses("out in v", [](auto& wrong) { wrong.out = const_cast<T*>(wrong.v) + 8; });
    attention::Problem<T> without_queries = valid; // otherwise valid
    without_queries.queries = 0;
    EXPECT_NO_THROW(attention::run(without_queries, attention::Variant::automatic, judge.stream()));
  });
}

// Two sequences of 20 and 15 queries, and 17 and 70 keys.
KG_OWN_TEST(LibrariesGetCountsAndOffsets) {
  const Problem problem = attention_problems::with_counts(
      problem_of(judge.card(), judge.dtype(), {"normal", "b2_h4_kv2_q20_k70_d64_v32_ragged"}));
  const std::map<std::string, std::vector<std::uint64_t>> expected = {
      {"query_lengths", {20, 15}},
      {"key_lengths", {17, 70}},
      {"q_offsets", {0, 20 * 4 * 64, 35 * 4 * 64}},
      {"k_offsets", {0, 17 * 2 * 64, 87 * 2 * 64}},
      {"v_offsets", {0, 17 * 2 * 32, 87 * 2 * 32}},
      {"out_offsets", {0, 20 * 4 * 32, 35 * 4 * 32}}};
  for (const auto& [name, numbers] : expected) {
    const Tensor& tensor = problem.tensor(name);
    std::vector<std::uint64_t> found;
    for (std::int64_t i = 0; i < tensor.size(); ++i) found.push_back(tensor.element(i));
    EXPECT_EQ(found, numbers) << name;
  }
  const auto all_see = [](const char* shape) { return heads_of(shape).all_see(); };
  EXPECT_TRUE(all_see("b2_h4_kv2_q16_k130_d64_ragged_causal"));
  EXPECT_FALSE(all_see("b2_h4_kv2_q20_k70_d64_ragged_causal")) << "20 queries of 17 keys";
  EXPECT_FALSE(all_see("b4_h1_q1_k3_d8_lengths")) << "a quarter of 3 keys is none";
}

KG_OWN_TEST(Automatic) {
  using attention::Variant;
  dispatch(judge.dtype(), [&]<class T>() {
    const bool is_f32 = judge.dtype() == Dtype::f32;
    const auto expect = [&](const char* shape, Variant right) {
      const attention::Problem<T> p = attention_problems::placed<T>(heads_of(shape));
      EXPECT_EQ(name(attention::resolved(Variant::automatic, p)), name(right)) << shape;
    };
    expect("b1_h1_q64_k64_d128", is_f32 ? Variant::tiled : Variant::flash);
    expect("b1_h1_q64_k64_d8_v256", is_f32 ? Variant::tiled : Variant::naive);
    expect("b1_h1_q64_k64_d264", is_f32 ? Variant::tiled : Variant::naive);
  });
}

// By hand: of 3 queries and 4 keys, causal, the queries see 2, 3 and 4; with a window of 2, 2 each.
KG_OWN_TEST(WorkCountsWhatIsSeen) {
  EXPECT_EQ(attention::visible_pairs(3, 4, false, 0), 12);
  EXPECT_EQ(attention::visible_pairs(3, 4, true, 0), 9);
  EXPECT_EQ(attention::visible_pairs(3, 4, true, 2), 6);
  EXPECT_EQ(attention::visible_pairs(4, 3, true, 0), 6);
  const attention::Problem<float> p{.batch = 2,
                                    .heads = 4,
                                    .kv_heads = 2,
                                    .queries = 3,
                                    .keys = 8,
                                    .depth = 16,
                                    .value_depth = 8,
                                    .causal = true,
                                    .window = 2};
  const Work work = attention::work(p);
  EXPECT_EQ(work.bytes, 4 * (2 * 4 * 3 * 16 + 2 * 2 * 4 * 24 + 2 * 4 * 3 * 8)); // keys 4 to 7
  EXPECT_EQ(work.flops, 2 * 4 * 6 * 2 * 24);
}

} // namespace
} // namespace kg::card
