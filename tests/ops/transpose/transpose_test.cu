// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to transpose; its card configures those of every operation.
#include "ops/transpose/transpose.h"

#include "primitives/unaligned_tile.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

// A sample with x of this size.
Sample patterns(std::int64_t rows, std::int64_t cols) {
  return {"unique_bits", "rows" + std::to_string(rows) + "_cols" + std::to_string(cols)};
}

// Correct, with this kernel of `tiled`.
void check(Judge& judge, std::int64_t rows, std::int64_t cols, const Layout& layout,
           const std::string& kernel) {
  judge.check(patterns(rows, cols), layout);
  const Problem problem = problem_of(judge.card(), judge.dtype(), patterns(rows, cols));
  const Outcome outcome =
      judge.run(judge.card().variant("tiled"), problem, completed(problem, {}), layout);
  EXPECT_NE(outcome.kernels.at(0).find("transpose::" + kernel), std::string::npos)
      << outcome.kernels[0] << " ran on " << patterns(rows, cols).shape;
}

// Rows that move in units of 16 bytes, of words and of elements, in tiles of all sizes.
KG_OWN_TEST(TilesOfPacks) {
  const auto bytes = static_cast<std::int64_t>(size_of(judge.dtype()));
  const std::int64_t p = 16 / bytes;
  const std::int64_t k = bytes < 4 ? 4 / bytes : 1; // elements per word
  const auto check = [&](std::int64_t rows, std::int64_t cols, const Layout& layout,
                         std::int64_t by) {
    card::check(judge, rows, cols, layout, "tiled<" + std::to_string(by));
  };
  const std::int64_t word = std::max<std::int64_t>(bytes, 4);
  check(2 * p, 17 * p, {{"x", {0, p}}, {"y", {0, 3 * p}}}, 16);
  check(17 * p, 9 * p, {{"x", {p, p}}, {"y", {2 * p, 0}}}, 16);
  check(16 * p, 8 * p, {{"x", {0, k}}}, word);
  check(16 * p, 8 * p, {{"y", {0, k}}}, word);
  check(16 * p, 8 * p, {{"x", {k, 0}}}, word);
  check(17 * p + k, 8 * p, {}, word);
  check(17 * p, 8 * p + k, {}, word);
  check(16 * p, p, {}, bytes); // 16 bytes: half a sector
  check(16 * p, 8 * p, {{"x", {0, 1}}}, bytes);
  check(16 * p, 8 * p, {{"y", {1, 0}}}, bytes);
  check(17 * p + 1, 8 * p, {}, bytes);
}

// Misaligned rows, in tiles at all borders and at none.
KG_OWN_TEST(TilesAskew) {
  dispatch_moved(judge.dtype(), [&]<class T>() {
    using Tile = UnalignedTile<T>;
    constexpr std::int64_t kSector = Tile::kSector;
    const std::int64_t along = div_up(2 * device_properties().sm_count, 3); // with 3 or more across
    const std::int64_t rows = along * Tile::kB;
    const std::int64_t cols = 2 * Tile::kA + Tile::kA / 2;
    const std::string askew = "tiled_askew<";
    check(judge, rows - 1, cols | 1, {}, askew); // some rows of y reach into one more tile
    check(judge, rows - kSector + 1, 3 * Tile::kA, {}, askew);
    check(judge, rows - kSector, cols | 1, {}, askew); // rows of y are sectors
    check(judge, rows + 1, 3 * Tile::kA + kSector - 3 * Tile::kA % kSector, {},
          askew); // rows of x are
    check(judge, rows - kSector, cols | 1, {{"y", {kSector / 2, 0}}}, askew);
    check(judge, rows - kSector, cols | 1, {{"y", {0, 1}}}, askew);
    check(judge, rows - kSector, cols, {{"x", {1, 2}}, {"y", {3, 5}}}, askew);
    check(judge, rows + 3, cols, {{"x", {3, 4}}, {"y", {1, 6}}}, askew);
    // Tiles would be less than half full, or too few.
    check(judge, 2 * Tile::kB * along * 3, Tile::kA / 2 - 1, {{"x", {0, 1}}}, "tiled<");
    check(judge, Tile::kB / 2 - 1, 2 * Tile::kA * along * 3, {{"x", {0, 1}}}, "tiled<");
    check(judge, 2 * Tile::kB - kSector, cols | 1, {}, "tiled<");
  });
}

// Different gaps on either side, and compared with libraries.
KG_OWN_TEST(RowsWithGaps) {
  for (const Layout& layout :
       {Layout{{"x", {1, 3}}, {"y", {3, 5}}}, Layout{{"x", {2, 32}}, {"y", {0, 64}}},
        Layout{{"x", {0, 100}}, {"y", {7, 31}}}, Layout{{"x", {7, 0}}, {"y", {12, 2}}}}) {
    judge.check(patterns(33, 47), layout);
    judge.check(patterns(70, 64), layout);
  }
  for (const Sample& sample :
       {Sample{"normal", patterns(200, 333).shape}, {"normal", patterns(65, 64).shape}})
    judge.check_vendors(sample, {{"x", {0, 3}}, {"y", {0, 7}}});
}

// More rows of blocks than a grid's y extent can count.
KG_OWN_TEST(BeyondOneGrid) {
  judge.check(patterns(std::int64_t{device_properties().max_grid_yz} * 8 + 45, 1));
}

KG_OWN_TEST(TwiceIsTheOriginal) {
  const Sample there = patterns(300, 131), back = patterns(131, 300);
  const Inputs x = completed(problem_of(judge.card(), judge.dtype(), there), {});
  judge.each_variant(there, [&](const Variant& variant) {
    Sample transposed = back;
    transposed.inputs["x"] = judge.run(variant.name, there).outputs.at("y");
    EXPECT_EQ(judge.run(variant.name, transposed).bits("y"), x.at("x").bits) << variant.name;
  });
}

// Columns of y are rows of x.
KG_OWN_TEST(PermutedRowsArePermutedColumns) {
  const Sample sample = patterns(75, 41);
  const Inputs x = completed(problem_of(judge.card(), judge.dtype(), sample), {});
  const std::vector<std::int64_t> order = test::permutation(75);
  Sample permuted = sample;
  permuted.inputs["x"] = bits(judge.dtype(), test::permuted_rows(x.at("x").bits, order));
  judge.each_variant(sample, [&](const Variant& variant) {
    EXPECT_EQ(judge.run(variant.name, permuted).bits("y"),
              test::permuted_columns(judge.run(variant.name, sample).bits("y"), order))
        << variant.name << ": (P x)^T = x^T P^T";
  });
}

// Indices beyond 32 bits on both sides.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kRows = 46349, kCols = 46351;
  static_assert(kRows * kCols > std::int64_t{1} << 31);
  KG_HUGE(static_cast<std::size_t>(2 * kRows * kCols) * size_of(judge.dtype()));
  dispatch_moved(judge.dtype(), [&]<class T>() {
    const T everywhere =
        test::from_raw_bits<T>(0x3C3C3C3C3C3C3C3C & test::poison_bits(judge.dtype()));
    const DeviceBuffer<T> x(kRows * kCols);
    fill_bytes(x.data(), 0x3C, x.bytes(), judge.stream());
    test::Marks<T> before, after;
    std::uint64_t bits = 1;
    for (const std::int64_t row : {std::int64_t{0}, kRows / 2, kRows - 2, kRows - 1})
      for (const std::int64_t col : {std::int64_t{0}, std::int64_t{33}, kCols - 1}) {
        // Tiles do not follow the order of elements: a window covers the first and the last ones.
        const bool is_first = row == 0 && col <= 33, is_last = row >= kRows - 2 && col == kCols - 1;
        if (backend == Backend::host && !is_first && !is_last) continue;
        before[row * kCols + col] = test::from_raw_bits<T>(bits);
        after[col * kRows + row] = test::from_raw_bits<T>(bits);
        ++bits;
      }
    test::put(before, x, judge.stream());
    for (const transpose::Variant variant : transpose::kVariants) {
      const DeviceBuffer<T> y(kRows * kCols);
      transpose::run(matrix<const T>(x.data(), kRows, kCols), matrix<T>(y.data(), kCols, kRows),
                     variant, judge.stream());
      EXPECT_TRUE(test::holds(y, everywhere, after, judge.stream())) << name(variant);
      EXPECT_NO_THROW(y.check_guards());
    }
    EXPECT_TRUE(test::holds(x, everywhere, before, judge.stream()))
        << "the kernel changed its input";
  });
}

// Incompatible shapes and strides, which the contract's problems cannot have.
KG_OWN_TEST(RefusesStrides) {
  const std::size_t bytes = size_of(judge.dtype());
  const DeviceBuffer<double> x(64), y(64);
  const auto refuses = [&](MatrixView<const void> from, MatrixView<void> to, std::size_t element) {
    EXPECT_THROW(transpose::run(from, to, element, transpose::Variant::automatic, judge.stream()),
                 Error);
  };
  LaunchRecorder recorder;
  refuses({x.data(), {4, 8}, {8, 1}}, {y.data(), {4, 8}, {8, 1}}, bytes);
  refuses({x.data(), {4, 8}, {8, 1}}, {y.data(), {7, 4}, {4, 1}}, bytes);
  refuses({x.data(), {4, 8}, {8, 1}}, {y.data(), {8, 3}, {4, 1}}, bytes);
  refuses({x.data(), {4, 8}, {7, 1}}, {y.data(), {8, 4}, {4, 1}}, bytes);
  refuses({x.data(), {4, 8}, {8, 1}}, {y.data(), {8, 4}, {3, 1}}, bytes);
  refuses({x.data(), {4, 8}, {8, 2}}, {y.data(), {8, 4}, {4, 1}}, bytes);
  refuses({x.data(), {1, 2}, {2, 1}}, {y.data(), {2, 1}, {1, 1}}, 3);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
