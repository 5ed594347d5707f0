// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to permute; its card configures those of every operation.
#include "ops/permute/permute.h"

#include <algorithm>

#include "primitives/row_move.h"
#include "primitives/unaligned_tile.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/ops/permute/orders.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card {
namespace {

using Extents = std::vector<std::int64_t>;

Sample patterns(const std::string& order, const Extents& x) {
  Permutation permutation = permutation_of(order);
  std::copy(x.begin(), x.end(), permutation.shape.begin());
  return {"unique_bits", permute_grammar().print(permutation)};
}

struct Offsets {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

// Correct, with this kernel of `coalesced`.
void check(Judge& judge, const std::string& order, const Extents& x, const std::string& kernel,
           Offsets offsets = {}) {
  const Sample sample = patterns(order, x);
  const Layout layout = {{"x", {offsets.x, 0}}, {"y", {offsets.y, 0}}};
  judge.check(sample, layout);
  const Problem problem = problem_of(judge.card(), judge.dtype(), sample);
  const Outcome outcome =
      judge.run(judge.card().variant("coalesced"), problem, completed(problem, {}), layout);
  EXPECT_NE(outcome.kernels.at(0).find("permute::" + kernel), std::string::npos)
      << outcome.kernels[0] << " ran on " << sample.shape;
}

std::int64_t pack(Dtype dtype) { return 16 / static_cast<std::int64_t>(size_of(dtype)); }

KG_OWN_TEST(AllOrders) {
  for (const Extents& x : {Extents{3, 7}, Extents{4, 1, 6}, Extents{3, 5, 2, 17}}) {
    std::string order = std::string("0123").substr(0, x.size());
    do judge.check(patterns(order, x));
    while (std::next_permutation(order.begin(), order.end()));
  }
}

// Images between the libraries' layouts, with one channel up to more than a tile.
KG_OWN_TEST(ChannelsFirstAndLast) {
  for (const std::int64_t channels : {1, 2, 3, 4, 7, 16, 33, 64, 128}) {
    const std::string kernel = channels == 1 ? "rows<" : "tiled";
    check(judge, "0231", {2, channels, 7, 23}, kernel);
    check(judge, "0312", {2, 7, 23, channels}, kernel);
  }
}

// Narrow, wide and ragged ones, with either kind of tile, which depends on the number of SMs.
KG_OWN_TEST(Tiles) {
  for (const std::int64_t a : {5, 15, 16, 31, 32, 33, 65})
    for (const std::int64_t b : {17, 32, 63, 129}) {
      check(judge, "10", {b, a}, "tiled");
      check(judge, "201", {3, b, a}, "tiled");
    }
  check(judge, "10", {300, 5}, "tiled");
  check(judge, "10", {5, 1100}, "tiled");
  check(judge, "10", {8, 9}, "naive<");
}

// The number of bytes that move at once, and what limits it. Four matrices of 17 packs are enough
// for tiles of full size, whole and ragged.
KG_OWN_TEST(TilesOfPacks) {
  const auto bytes = static_cast<std::int64_t>(size_of(judge.dtype()));
  const std::int64_t p = pack(judge.dtype());
  const std::int64_t k = bytes < 4 ? 4 / bytes : 1; // elements per word
  const std::string elements = "tiled<" + std::to_string(bytes);
  const std::string words = bytes < 4 ? "tiled<4" : elements;
  check(judge, "10", {8 * p, 3 * p}, "tiled<16");
  check(judge, "10", {3 * p, 17 * p}, "tiled<16");
  check(judge, "3021", {2, 17 * p, 2, 17 * p}, "tiled<16");
  check(judge, "021", {3, 9 * p + k, 9 * p + k}, words);
  check(judge, "10", {2 * p + k, 17 * p}, words);
  check(judge, "10", {17 * p, 2 * p + k}, words);
  check(judge, "10", {8 * p, 4 * p}, words, {k, 0});
  check(judge, "10", {8 * p, 4 * p}, words, {0, k});
  // 16 bytes: half a sector, or few planes.
  check(judge, "10", {20 * p, p}, p <= 4 ? "planes<" : elements);
  check(judge, "10", {8 * p, 4 * p}, elements, {1, 0});
  check(judge, "10", {8 * p, 4 * p}, elements, {0, 1});
  check(judge, "3021", {2, 5 * p + 1, 2, 9 * p + 1}, elements);
}

// Misaligned rows, in matrices of two batches, and of one batch with gaps between the rows of y.
KG_OWN_TEST(TilesAskew) {
  dispatch_moved(judge.dtype(), [&]<class T>() {
    using Tile = UnalignedTile<T>;
    const std::int64_t matrices = div_up(2 * device_properties().sm_count, 4);
    constexpr std::int64_t kA = Tile::kA + Tile::kA / 2, kB = Tile::kB + Tile::kB / 2;
    check(judge, "0321", {1, kB + 1, matrices, kA | 1}, "tiled_askew<");
    check(judge, "0231", {matrices, kB + 1, 1, kA | 1}, "tiled_askew<");
    check(judge, "0231", {matrices, kB, 1, kA | 1}, "tiled_askew<");
    check(judge, "0231", {matrices, kB, 2, kA / 2}, "tiled_askew<", {1, 3});
    check(judge, "0321", {matrices, kB | 1, 2, kA | 1}, "tiled_askew<");
  });
}

// Two to four planes and their pixels, in one block and in more; what rules out 16-byte packs.
KG_OWN_TEST(FewPlanes) {
  const std::int64_t p = pack(judge.dtype());
  for (const std::int64_t count : {2, 3, 4}) {
    const std::string kernel = "planes<" + std::to_string(count);
    for (const Extents& plane : {Extents{3, 6 * p}, Extents{20, 15 * p}}) {
      check(judge, "0231", {2, count, plane[0], plane[1]}, kernel + ", false");
      check(judge, "0312", {2, plane[0], plane[1], count}, kernel + ", true");
    }
    check(judge, "1032", {3, 2, count, 9 * p}, kernel + ", false");
    check(judge, "1032", {3, 2, 9 * p, count}, kernel + ", true");
  }
  check(judge, "0231", {2, 5, 3, 6 * p}, "tiled<");
  check(judge, "0231", {1, 3, 3, 6 * p + 1}, "tiled<");
  check(judge, "0231", {2, 3, 3, 6 * p + 1}, "tiled<");
  check(judge, "0231", {2, 3, 3, 6 * p}, "tiled<", {1, 0});
  check(judge, "0312", {2, 3, 6 * p, 3}, "tiled<", {0, 1});
  check(judge, "3021", {2, 4, 4, 9 * p}, "tiled<"); // pixels of eight images are contiguous
}

// The last axis stays innermost: packs for long rows, wider elements for short ones.
KG_OWN_TEST(WholeRows) {
  const std::int64_t pack = card::pack(judge.dtype());
  for (const std::int64_t cols :
       {pack, pack + 1, 3 * pack - 1, 5 * pack, 20 * pack + 2, 40 * pack + 3})
    check(judge, "102", {3, 7, cols}, cols % pack == 0 ? "rows<false" : "rows<true");
  for (const std::int64_t cols : {2, 3, 4, 8}) judge.check(patterns("102", {20, 33, cols}));
  if (pack >= 4) check(judge, "102", {20, 33, 2}, "tiled<");
  judge.check(patterns("102", {20, 33, 2}), {{"x", {1, 0}}});
  check(judge, "102", {3, 7, 8 * pack}, "rows<true", {1, 0});
  check(judge, "102", {3, 7, 8 * pack}, "rows<false", {1, 1});
  check(judge, "102", {3, 7, 8 * pack + 1}, "rows<true", {2, 1});
}

// Rows beyond the blocks of the first grid.
KG_OWN_TEST(BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kRowBlocksPerSm;
  check(judge, "102", {2, resident * kMostRows / 2 + 17, pack(judge.dtype())}, "rows<false");
}

KG_OWN_TEST(ThereAndBackIsTheOriginal) {
  const Sample there = patterns("3021", {3, 20, 5, 34});
  const Inputs x = completed(problem_of(judge.card(), judge.dtype(), there), {});
  judge.each_variant(there, [&](const Variant& variant) {
    Sample back = patterns("1320", {34, 3, 5, 20});
    back.inputs["x"] = judge.run(variant.name, there).outputs.at("y");
    EXPECT_EQ(judge.run(variant.name, back).bits("y"), x.at("x").bits) << variant.name;
  });
}

// Offsets beyond 32 bits, transposed and by rows.
KG_OWN_TEST(MoreThan2To31Elements) {
  const Extents extents = {2, 32752, 32800}; // no more rows than a grid has blocks
  const std::int64_t count = test::element_count(extents);
  KG_HUGE(static_cast<std::size_t>(2 * count) * size_of(judge.dtype()));
  dispatch_moved(judge.dtype(), [&]<class T>() {
    const T everywhere =
        test::from_raw_bits<T>(0x3C3C3C3C3C3C3C3C & test::poison_bits(judge.dtype()));
    const DeviceBuffer<T> x(static_cast<std::size_t>(count));
    fill_bytes(x.data(), 0x3C, x.bytes(), judge.stream());
    for (const std::string order : {"021", "102"}) {
      const Problem problem = problem_of(judge.card(), judge.dtype(), patterns(order, extents));
      const card::SourceOfElement source = judge.card().source(problem, "y", {});
      test::Marks<T> before, after;
      std::uint64_t bits = 1;
      for (const std::int64_t i :
           {std::int64_t{0}, std::int64_t{1} << 30, std::int64_t{1} << 31, count - 1}) {
        // Tiles do not follow the order of elements: a window covers the first and the last.
        if (backend == Backend::host && i != 0 && i != count - 1) continue;
        after[i] = test::from_raw_bits<T>(bits);
        before[source(i).index] = test::from_raw_bits<T>(bits++);
      }
      test::put(before, x, judge.stream());
      for (const Variant& variant : judge.card().variants) {
        const DeviceBuffer<T> y(static_cast<std::size_t>(count));
        Call call(problem);
        call.bind("x", x.data());
        call.bind("y", y.data());
        variant.run(call, judge.stream());
        EXPECT_TRUE(test::holds(y, everywhere, after, judge.stream())) << variant.name;
        EXPECT_NO_THROW(y.check_guards());
      }
      for (auto& [index, value] : before) value = everywhere;
      test::put(before, x, judge.stream());
    }
  });
}

// Orders that no shape can express.
KG_OWN_TEST(RefusesOrders) {
  const DeviceBuffer<double> x(64), y(64);
  const auto refuses = [&](const permute::Permutation& permutation, std::size_t bytes) {
    EXPECT_THROW(permute::run(x.data(), y.data(), permutation, bytes, permute::Variant::automatic,
                              judge.stream()),
                 Error);
  };
  const std::size_t bytes = size_of(judge.dtype());
  LaunchRecorder recorder;
  refuses({0, {}, {}}, bytes);
  refuses({6, {}, {}}, bytes);
  refuses({2, {4, 4}, {1, 1}}, bytes);
  refuses({2, {4, 4}, {0, 2}}, bytes);
  refuses({2, {4, 4}, {-1, 0}}, bytes);
  refuses({2, {2, 2}, {1, 0}}, 16);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
