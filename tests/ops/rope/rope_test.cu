// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to rope; its card configures those of every operation.
#include "ops/rope/rope.h"

#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_attention.h"
#include "tests/oracle/tolerance_attention.h"

namespace kg::card {
namespace {

// With tables of the usual frequencies, the result follows the paper's formula within the tolerance
// of kernels that take a table; the table of another position exceeds it.
KG_OWN_TEST(TurnsByPositions) {
  for (const auto& [shape, layout] :
       {std::pair{"t50_h1_d64", test::RopeLayout::half_split},
        std::pair{"t50_h1_d64_interleaved", test::RopeLayout::interleaved}}) {
    std::vector<double> x = test::normal(judge.dtype(), 50 * 64, test::Tensor::a).values;
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < 50; ++i) positions.push_back(i);
    const test::RopeOracle right =
        test::rope_oracle(layout, x, positions, test::rope_frequencies(64, 10000));
    std::vector<double> bounds;
    for (std::size_t i = 0; i < x.size(); ++i)
      bounds.push_back(test::stored_tolerance(
          judge.dtype(), right.value[i],
          test::rope_f32_tolerance(right.turned[i], right.angle[i], right.magnitude[i],
                                   test::RopeAngles::table)));
    const Sample sample{"normal", shape, {{"x", values(judge.dtype(), x)}}};
    judge.check_against(sample,
                        {{"y", {right.value, [bounds](std::string_view) { return bounds; }}}});
  }
}

// Forward and then backward is the identity.
KG_OWN_TEST(BackwardUndoesForward) {
  const std::vector<double> x = test::normal(judge.dtype(), 20 * 3 * 64, test::Tensor::a).values;
  const Sample forward{"normal", "t20_h3_d64_r48", {{"x", values(judge.dtype(), x)}}};
  judge.each_variant(forward, [&](const Variant& variant) {
    const test::Observed y = judge.run(variant.name, forward).outputs.at("y");
    const Sample back{"turned", "t20_h3_d64_r48_back", {{"x", y}}};
    const test::Observed again = judge.run(variant.name, back).outputs.at("y");
    // Each rotation rounds once to the type; lengths stay, so an error scales with the pair's.
    const double u = judge.dtype() == Dtype::f32 ? 8 * unit_roundoff(Dtype::f32)
                                                 : 2 * unit_roundoff(judge.dtype());
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(again.values[i], x[i], u * 8) << variant.name << ": element " << i;
  });
}

KG_OWN_TEST(RefusesOtherProblems) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(4096);
    const DeviceBuffer<float> tables(256);
    const rope::Problem<T> valid{.tokens = 4,
                                 .heads = 2,
                                 .depth = 16,
                                 .rotary = 8,
                                 .x = data.data(),
                                 .x_stride = {32, 16},
                                 .y = data.data() + 2048,
                                 .y_stride = {32, 16},
                                 .positions = 4,
                                 .cosine = tables.data(),
                                 .sine = tables.data() + 128};
    const auto refuses = refusing(valid, [&](const auto& wrong) {
      rope::run(wrong, rope::Variant::automatic, judge.stream());
    });
    refuses("an odd number of elements", [](auto& wrong) { wrong.rotary = 7; });
    refuses("more than a row has", [](auto& wrong) { wrong.rotary = 18; });
    refuses("fewer than none", [](auto& wrong) { wrong.rotary = -2; });
    refuses("too few positions", [](auto& wrong) { wrong.positions = 3; });
    refuses("no sines", [](auto& wrong) { wrong.sine = nullptr; });
    refuses("rows that overlap", [](auto& wrong) { wrong.y_stride = {32, 15}; });
    refuses("tokens that overlap", [](auto& wrong) { wrong.y_stride = {31, 16}; });
    refuses("a negative stride", [](auto& wrong) { wrong.x_stride.head = -16; });
    rope::Problem<T> nothing = valid; // otherwise valid
    nothing.tokens = 0;
    EXPECT_NO_THROW(rope::run(nothing, rope::Variant::automatic, judge.stream()));
  });
}

} // namespace
} // namespace kg::card
