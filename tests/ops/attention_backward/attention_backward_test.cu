// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to attention_backward; its card configures those of every operation.
#include "ops/attention_backward/attention_backward.h"

#include "runtime/device.h"
#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/contract/samples.h"
#include "tests/ops/attention/family.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

// dQ with grouped heads has the same bits as with repeated heads of K and V.
KG_OWN_TEST(GroupedHeadsShareKeys) {
  const GroupedHeads heads = grouped_heads(judge.dtype());
  judge.each_variant(heads.few, [&](const Variant& variant) {
    EXPECT_EQ(judge.run(variant.name, heads.few).bits("dq"),
              judge.run(variant.name, heads.all).bits("dq"))
        << variant.name;
  });
}

KG_OWN_TEST(MasksThatHideNothing) {
  const Sample causal{"normal", "b2_h1_q70_k70_d64_causal"};
  const std::vector<Sample> others = masks_that_hide_nothing();
  judge.each_variant(causal, [&](const Variant& variant) {
    for (const Sample& same : others)
      for (const char* const output : {"dk", "dv"})
        EXPECT_EQ(judge.run(variant.name, causal).bits(output),
                  judge.run(variant.name, same).bits(output))
            << variant.name << ": " << output << " of " << same.shape;
  });
}

// Indivisible heads, zero heads, a missing log_sum, and overlapping rows of results fail before any
// launch.
KG_OWN_TEST(RefusesOtherProblems) {
  dispatch(judge.dtype(), [&]<class T>() {
    Stream& stream = judge.stream();
    const auto data = DeviceBuffer<T>::from_host(std::vector<T>(4096), stream);
    const auto sums = DeviceBuffer<float>::from_host(std::vector<float>(4096), stream);
    T* const p = data.data();
    const attention::Strides dense{64, 32, 8};
    const attention_backward::Problem<T> valid{.forward = {.batch = 1,
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
                                                           .log_sum = sums.data(),
                                                           .log_sum_stride = 4},
                                               .dout = p + 512,
                                               .dout_stride = dense,
                                               .dq = p + 640,
                                               .dq_stride = dense,
                                               .dk = p + 768,
                                               .dk_stride = dense,
                                               .dv = p + 896,
                                               .dv_stride = dense,
                                               .workspace = sums.data() + 16};
    const auto run = [&](const attention_backward::Problem<T>& problem) {
      return attention_backward::run(problem, attention_backward::Variant::automatic, stream);
    };
    const auto refuses = refusing(valid, run);
    refuses("kv_heads is 0", [](auto& wrong) { wrong.forward.kv_heads = 0; });
    refuses("no heads", [](auto& wrong) { wrong.forward.heads = 0; });
    refuses("3 heads of 2",
            [](auto& wrong) { wrong.forward.heads = 3, wrong.forward.kv_heads = 2; });
    refuses("a window without causal", [](auto& wrong) { wrong.forward.window = 2; });
    refuses("no log_sum", [](auto& wrong) { wrong.forward.log_sum = nullptr; });
    refuses("no workspace", [](auto& wrong) { wrong.workspace = nullptr; });
    refuses("tokens of dq overlap", [](auto& wrong) { wrong.dq_stride.token = 7; });
    refuses("tokens of dv overlap", [](auto& wrong) { wrong.dv_stride.token = 0; });
    refuses("heads of dq overlap", [](auto& wrong) { wrong.dq_stride.head = 8; });
    refuses("a negative stride", [](auto& wrong) { wrong.dout_stride.token = -8; });
    refuses("dk in v", [](auto& wrong) { wrong.dk = const_cast<T*>(wrong.forward.v) + 8; });
    refuses("dk in dv", [](auto& wrong) { wrong.dk = wrong.dv + 8; });
    refuses("dq in log_sum",
            [](auto& wrong) { wrong.dq = reinterpret_cast<T*>(wrong.forward.log_sum); });
    attention_backward::Problem<T> nothing = valid; // otherwise valid
    nothing.forward.batch = 0;
    EXPECT_NO_THROW(run(nothing));
    EXPECT_NO_THROW(run(valid));
  });
}

KG_OWN_TEST(Automatic) {
  using attention_backward::Variant;
  dispatch(judge.dtype(), [&]<class T>() {
    const Variant fast = judge.dtype() == Dtype::f32 ? Variant::naive : Variant::flash;
    EXPECT_EQ(attention_backward::resolved<T>(Variant::automatic, 64, 64), fast);
    EXPECT_EQ(attention_backward::resolved<T>(Variant::automatic, 8, 256), Variant::naive);
    EXPECT_EQ(attention_backward::resolved<T>(Variant::automatic, 264, 264), Variant::naive);
  });
}

// Hand-computed: of 3 queries and 8 keys, causal, with a window of 2, each query sees 2 keys, and
// all together see 4.
KG_OWN_TEST(WorkCountsWhatIsSeen) {
  const attention_backward::Problem<float> p{.forward = {.batch = 2,
                                                         .heads = 4,
                                                         .kv_heads = 2,
                                                         .queries = 3,
                                                         .keys = 8,
                                                         .depth = 16,
                                                         .value_depth = 8,
                                                         .causal = true,
                                                         .window = 2}};
  const Work work = attention_backward::work(p);
  const std::int64_t written = 2 * 4 * 3 * 16 + 2 * 2 * 8 * (16 + 8);
  EXPECT_EQ(work.written, 4 * written);
  EXPECT_EQ(work.bytes, 4 * (2 * 4 * 3 * (16 + 8 + 8 + 1) + 2 * 2 * 4 * 24 + written));
  EXPECT_EQ(work.flops, 2 * 4 * 6 * 2 * (3 * 16 + 2 * 8));
}

} // namespace
} // namespace kg::card
