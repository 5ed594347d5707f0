// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to attention_decode; its card configures those of every operation.
#include "ops/attention_decode/attention_decode.h"

#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"

#include <vector>

namespace kg::card {
namespace {

using attention_decode::Problem;

// The bits of a sequence do not depend on other sequences' lengths.
KG_OWN_TEST(OtherLengthsChangeNothing) {
  const std::string shape = "b3_h2_kv1_q2_k300_d32_lengths";
  const Sample sample{"normal", shape};
  judge.each_variant(sample, [&](const Variant& variant) {
    constexpr std::size_t kRow = 2 * 2 * 32; // elements per sequence
    std::vector<std::uint64_t> before;
    for (const double others : {300.0, 3.0, 0.0}) {
      Sample changed = sample;
      changed.inputs["key_lengths"] = values(Dtype::i32, {others, 233, others});
      const std::vector<std::uint64_t> bits = judge.run(variant.name, changed).bits("out");
      const std::vector<std::uint64_t> own(bits.begin() + kRow, bits.begin() + 2 * kRow);
      if (!before.empty()) {
        EXPECT_EQ(own, before) << variant.name << ": others have " << others;
      }
      before = own;
    }
  });
}

// Sequences with a common prefix may share pages.
KG_OWN_TEST(PagesMayBeShared) {
  const std::string shape = "b2_h2_q1_k64_d64_page16";
  const std::vector<double> q = test::normal(judge.dtype(), 2 * 64, test::Tensor::a).values;
  std::vector<double> twice = q;
  twice.insert(twice.end(), q.begin(), q.end());
  const Sample sample{"shared",
                      shape,
                      {{"q", values(judge.dtype(), twice)},
                       {"table", values(Dtype::i32, {3, 0, 7, 5, 3, 0, 7, 5})}}};
  judge.check(sample);
  judge.each_variant(sample, [&](const Variant& variant) {
    const std::vector<std::uint64_t> bits = judge.run(variant.name, sample).bits("out");
    EXPECT_TRUE(std::equal(bits.begin(), bits.begin() + 128, bits.begin() + 128)) << variant.name;
  });
}

KG_OWN_TEST(RefusesOtherProblems) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(8192);
    const DeviceBuffer<std::int32_t> pages(4);
    const Problem<T> valid{.batch = 1,
                           .heads = 4,
                           .kv_heads = 2,
                           .queries = 1,
                           .keys = 16,
                           .depth = 8,
                           .value_depth = 8,
                           .q = data.data(),
                           .q_stride = {32, 8, 8},
                           .k = data.data() + 1024,
                           .k_stride = {64, 8, 16},
                           .v = data.data() + 2048,
                           .v_stride = {64, 8, 16},
                           .out = data.data() + 4096,
                           .out_stride = {32, 8, 8},
                           .table = {4, pages.data(), 4}};
    const auto refuses = refusing(valid, [&](const auto& wrong) {
      attention_decode::run(wrong, attention_decode::Variant::split, judge.stream());
    });
    refuses("nine queries", [](auto& wrong) { wrong.queries = 9; });
    refuses("heads that no group fills", [](auto& wrong) { wrong.kv_heads = 3; });
    refuses("pages without tokens", [](auto& wrong) { wrong.table.tokens = 0; });
    refuses("fewer pages than keys", [](auto& wrong) { wrong.table.stride = 3; });
    refuses("a depth that no lanes hold", [](auto& wrong) { wrong.value_depth = 264; });
    refuses("rows of out that overlap", [](auto& wrong) { wrong.out_stride.head = 7; });
    refuses("a negative stride", [](auto& wrong) { wrong.k_stride.page = -64; });
    refuses("an out in the table",
            [&](auto& wrong) { wrong.out = reinterpret_cast<T*>(pages.data()); });
    refuses("no workspace",
            [](auto& wrong) { wrong.keys = 1 << 20, wrong.table.stride = 1 << 18; });
    Problem<T> nothing = valid; // otherwise valid
    nothing.batch = 0;
    EXPECT_NO_THROW(
        attention_decode::run(nothing, attention_decode::Variant::automatic, judge.stream()));
  });
}

} // namespace
} // namespace kg::card
