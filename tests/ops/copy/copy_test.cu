// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to copy; its card configures those of every operation.
#include "ops/copy/copy.h"

#include <algorithm>

#include "primitives/row_move.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

Sample patterns(std::int64_t rows, std::int64_t cols) {
  return {"unique_bits", "rows" + std::to_string(rows) + "_cols" + std::to_string(cols) + "_ld" +
                             std::to_string(cols)};
}

Layout apart(std::int64_t x_gap, std::int64_t y_gap) {
  return {{"x", {0, x_gap}}, {"y", {0, y_gap}}};
}

std::int64_t pack(Dtype dtype) { return 16 / static_cast<std::int64_t>(size_of(dtype)); }

// Every relative alignment of source and destination, in a row of a few packs and in a row shorter
// than a pack.
KG_OWN_TEST(EveryShift) {
  const std::int64_t pack = card::pack(judge.dtype());
  for (std::int64_t x = 0; x < pack; ++x)
    for (const std::int64_t y : {std::int64_t{0}, std::int64_t{1}, pack - 1, pack + x})
      for (const std::int64_t n : {std::max<std::int64_t>(pack - 3, 1), 5 * pack + 1})
        judge.check(patterns(1, n), {{"x", {x, 0}}, {"y", {y, 0}}}, {"vectorized"});
}

// Gaps on one side only, and on both.
KG_OWN_TEST(RowsWithGaps) {
  const std::int64_t pack = card::pack(judge.dtype());
  for (const auto& [x_gap, y_gap] : {std::pair{std::int64_t{1}, std::int64_t{0}},
                                     {0, 1},
                                     {3, 3},
                                     {5, 2},
                                     {pack, 2 * pack},
                                     {2 * pack - 1, pack - 1}}) {
    judge.check(patterns(33, 7), apart(x_gap, y_gap));
    judge.check(patterns(65, 40), apart(x_gap, y_gap));
    judge.check(patterns(9, 32 * pack), apart(x_gap, y_gap)); // with (0, 1) one row fits a tile
  }
  judge.check_vendors({"normal", "rows65_cols64_ld67"}, {{"y", {0, 7}}});
}

// Tiles and rows beyond the blocks of the first grid.
KG_OWN_TEST(BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kRowBlocksPerSm;
  const std::int64_t tile = kRowThreads * kRowPacks * pack(judge.dtype());
  const Sample row = patterns(1, resident * tile + tile + 3);
  judge.check(row, {}, {"vectorized"});
  judge.check(row, {{"x", {1, 0}}}, {"vectorized"});
  judge.check(patterns(resident * kMostRows + 33, 1), apart(1, 2), {"vectorized"});
}

// Copying permuted rows gives the permuted copy.
KG_OWN_TEST(PermutedRows) {
  const Sample sample = patterns(75, 41);
  const Problem problem = problem_of(judge.card(), judge.dtype(), sample);
  const Inputs x = completed(problem, {});
  const std::vector<std::int64_t> order = test::permutation(75);
  Inputs permuted = x;
  permuted["x"].bits = test::permuted_rows(x.at("x").bits, order);
  judge.each_variant(sample, [&](const Variant& variant) {
    EXPECT_EQ(judge.run(variant, problem, permuted, apart(1, 2)).bits("y"),
              test::permuted_rows(judge.run(variant, problem, x, apart(0, 3)).bits("y"), order))
        << variant.name << ": copy(P x) = P copy(x)";
  });
}

// Indices beyond 32 bits, in one row and in two that are far apart.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kN = (std::int64_t{1} << 31) + 4100;
  KG_HUGE(2 * kN * size_of(judge.dtype()));
  dispatch_moved(judge.dtype(), [&]<class T>() {
    const T everywhere =
        test::from_raw_bits<T>(0x3C3C3C3C3C3C3C3C & test::poison_bits(judge.dtype()));
    const DeviceBuffer<T> x(kN);
    fill_bytes(x.data(), 0x3C, x.bytes(), judge.stream());
    test::Marks<T> marks;
    std::uint64_t bits = 1;
    for (const std::int64_t i : {std::int64_t{0}, kN / 2 - 1, kN / 2, kN - 4101, kN - 4100, kN - 1})
      marks[i] = test::from_raw_bits<T>(bits++);
    test::put(marks, x, judge.stream());
    for (const copy::Variant variant : copy::kVariants)
      for (const std::int64_t rows : {1, 2}) {
        const DeviceBuffer<T> y(kN);
        copy::run(matrix<const T>(x.data(), rows, kN / rows), matrix<T>(y.data(), rows, kN / rows),
                  variant, judge.stream());
        EXPECT_TRUE(test::holds(y, everywhere, marks, judge.stream())) << name(variant);
        EXPECT_NO_THROW(y.check_guards());
      }
    EXPECT_TRUE(test::holds(x, everywhere, marks, judge.stream()))
        << "the kernel changed its input";
  });
}

// Incompatible shapes and strides, which the contract's problems cannot have.
KG_OWN_TEST(RefusesStrides) {
  const std::size_t bytes = size_of(judge.dtype());
  const DeviceBuffer<double> x(64), y(64);
  const auto refuses = [&](MatrixView<const void> from, MatrixView<void> to, std::size_t element) {
    EXPECT_THROW(copy::run(from, to, element, copy::Variant::automatic, judge.stream()), Error);
  };
  LaunchRecorder recorder;
  refuses({x.data(), {4, 8}, {8, 1}}, {y.data(), {8, 4}, {4, 1}}, bytes);
  refuses({x.data(), {4, 8}, {7, 1}}, {y.data(), {4, 8}, {8, 1}}, bytes);
  refuses({x.data(), {4, 8}, {8, 1}}, {y.data(), {4, 8}, {7, 1}}, bytes);
  refuses({x.data(), {4, 8}, {8, 2}}, {y.data(), {4, 8}, {8, 1}}, bytes);
  refuses({x.data(), {1, 2}, {2, 1}}, {y.data(), {1, 2}, {2, 1}}, 3);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
