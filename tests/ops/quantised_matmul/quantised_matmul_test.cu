// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to quantised_matmul; its card configures those of every operation.
#include "ops/quantised_matmul/quantised_matmul.h"

#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/contract/samples.h"
#include "tests/ops/quantised_matmul/wgmma_tests.h"

#include <vector>

namespace kg::card {
namespace {

using quantised_matmul::Kind;

// Every value of a weight, with an X that selects one column: the order of w4's halves, w8's signs.
KG_OWN_TEST(EveryWeightHasItsValue) {
  for (const auto& [form, columns] : {std::pair{"w4", 32}, std::pair{"w8", 256}}) {
    const bool half = columns == 32;
    std::vector<double> w, x(static_cast<std::size_t>(columns * columns)), expected;
    for (int c = 0; c < (half ? 16 : 256); ++c)
      w.push_back(half ? static_cast<std::int8_t>((15 - c) << 4 | c) : c - 128);
    for (int row = 0; row < columns; ++row) {
      x[static_cast<std::size_t>(row * columns + row)] = 1;
      const int value = half ? (row % 2 == 0 ? row / 2 : 15 - row / 2) - 8 : row - 128;
      expected.push_back(value);
    }
    Sample sample{
        "unit rows",
        std::string(form) + "_m" + std::to_string(columns) + "_n1_k" + std::to_string(columns) +
            "_g32",
        {{"x", values(judge.dtype(), x)},
         {"w", values(Dtype::i8, w)},
         {"scale",
          values(judge.dtype(), std::vector<double>(static_cast<std::size_t>(columns / 32), 1))}}};
    sample.expected["y"] = expected;
    judge.check_exactly(sample);
  }
}

// If every product is the largest possible one, sums still fit 32 bits.
KG_OWN_TEST(LargestSumsFit) {
  constexpr std::int64_t kColumns = (1 << 17) - 16;
  const std::vector<double> least(kColumns, -128);
  const std::string shape = "w8a8_m1_n1_k" + std::to_string(kColumns);
  Sample sample{"least numbers",
                shape,
                {{"x8", values(Dtype::i8, least)},
                 {"w", values(Dtype::i8, least)},
                 {"x_scale", values(Dtype::f32, {0x1p-20})},
                 {"w_scale", values(Dtype::f32, {1})}}};
  judge.check(sample, {}, {"naive", "skinny"}); // mma would need 128 rows of them
}

KG_OWN_TEST(RefusesOtherProblems) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(4096);
    const DeviceBuffer<std::int8_t> bytes(4096);
    const quantised_matmul::Problem<T> valid{.kind = Kind::w4,
                                             .m = 2,
                                             .n = 4,
                                             .k = 64,
                                             .group = 32,
                                             .x = data.data(),
                                             .w = bytes.data(),
                                             .scale = data.data() + 1024,
                                             .y = data.data() + 2048};
    const auto refuses = refusing(valid, [&](const auto& wrong) {
      quantised_matmul::run(wrong, quantised_matmul::Variant::automatic, judge.stream());
    });
    refuses("a group that does not divide", [](auto& wrong) { wrong.group = 48; });
    refuses("no group", [](auto& wrong) { wrong.group = 0; });
    refuses("half a byte", [](auto& wrong) { wrong.k = wrong.group = 33; });
    refuses("sums of 33 bits", [](auto& wrong) {
      wrong.kind = Kind::w8a8;
      wrong.k = 1 << 17;
    });
    refuses("no factors of x", [](auto& wrong) { wrong.kind = Kind::w8a8; });
    EXPECT_THROW(quantised_matmul::run(valid, quantised_matmul::Variant::mma, judge.stream()),
                 Error);
    refuses("more rows than a grid", [](auto& wrong) { wrong.m = 4 * 65535 + 1; });
    refuses("a y in w", [&](auto& wrong) { wrong.y = reinterpret_cast<T*>(bytes.data()); });
  });
}

} // namespace
} // namespace kg::card
