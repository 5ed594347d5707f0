// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to gather; its card configures those of every operation.
#include "ops/gather/gather.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "primitives/row_move.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/contract/samples.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

// All of the table's rows, or as many as the index has.
Sample sample(const std::string& shape, const std::vector<std::int64_t>& index) {
  Sample result{"unique_bits", "i32_" + shape + "_count" + std::to_string(index.size())};
  result.inputs["index"] = values(Dtype::i32, {index.begin(), index.end()});
  return result;
}

KG_OWN_TEST(AllRowsInTurnOrReversedOrOneOnly) {
  std::vector<std::int64_t> index(20);
  std::iota(index.begin(), index.end(), 0);
  judge.check(sample("outer2_rows20_inner3", index));
  std::reverse(index.begin(), index.end());
  judge.check(sample("outer2_rows20_inner3", index));
  judge.check(sample("outer2_rows20_inner3", std::vector<std::int64_t>(20, 19)));
}

// Tiles and rows beyond the blocks of the first grid; only one type, since the rows fill a MiB.
KG_OWN_TEST(BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kRowBlocksPerSm;
  for (const char* const index : {"i32", "i64"}) {
    const std::string shape = index;
    judge.check({"unique_bits",
                 shape + "_outer1_rows100_inner1_count" + std::to_string(resident * 1024 + 1100)},
                {}, {"vectorized"});
    if (size_of(judge.dtype()) != 4) continue;
    judge.check({"unique_bits", shape + "_outer1_rows10_inner" +
                                    std::to_string(gather::kLongRow / 4 + 1) + "_count" +
                                    std::to_string(resident * kMostRows + 17)},
                {}, {"vectorized"});
  }
}

// Gathering again with the inverse permutation restores the order of the rows.
KG_OWN_TEST(InversePermutation) {
  const std::vector<std::int64_t> order = test::permutation(77);
  std::vector<std::int64_t> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  const Sample there = sample("outer1_rows77_inner5", order);
  const Inputs inputs = completed(problem_of(judge.card(), judge.dtype(), there), {});
  judge.each_variant(there, [&](const Variant& variant) {
    Sample back = sample("outer1_rows77_inner5", inverse);
    back.inputs["table"] = judge.run(variant.name, there).outputs.at("y");
    EXPECT_EQ(judge.run(variant.name, back).bits("y"), inputs.at("table").bits) << variant.name;
  });
}

// Indices beyond 32 bits, in the table and in y.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kLongest = (std::int64_t{1} << 30) + 16;
  KG_HUGE(4 * kLongest * size_of(judge.dtype()));
  dispatch_moved(judge.dtype(), [&]<class T>() {
    const T everywhere =
        test::from_raw_bits<T>(0x3C3C3C3C3C3C3C3C & test::poison_bits(judge.dtype()));
    const DeviceBuffer<T> table(2 * kLongest), y(2 * kLongest);
    const auto index =
        DeviceBuffer<std::int64_t>::from_host(std::vector<std::int64_t>{1, 0}, judge.stream());
    for (const std::int64_t inner : {kLongest, kLongest - 15}) // whole packs; shifted or words
      for (const gather::Variant variant : gather::kVariants) {
        test::Marks<T> from, to;
        for (const std::int64_t i : {std::int64_t{0}, inner - 1, inner, 2 * inner - 1}) {
          from[i] = test::from_raw_bits<T>(static_cast<std::uint64_t>(from.size() + 1));
          to[(i + inner) % (2 * inner)] = from[i];
        }
        fill_bytes(table.data(), 0x3C, table.bytes(), judge.stream());
        fill_bytes(y.data(), 0x3C, y.bytes(), judge.stream());
        fill_bytes(y.data(), 0, static_cast<std::size_t>(2 * inner) * sizeof(T), judge.stream());
        test::put(from, table, judge.stream());
        gather::run(table.data(), index.data(), y.data(), {1, 2, inner, 2}, sizeof(T), variant,
                    judge.stream());
        EXPECT_TRUE(test::holds(y, everywhere, to, judge.stream())) << name(variant);
        EXPECT_NO_THROW(y.check_guards());
      }
  });
}

// No kernel reads through a wrong index. In rows of 512 packs, a thread meets correct indices after
// it. The lower halves of the widest indices are correct.
KG_OWN_TEST(IndexOutOfRangeTraps) {
  if (backend == Backend::cuda) GTEST_SKIP() << "a trap takes the process's context with it";
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kWide = std::int64_t{1} << 32;
  const std::size_t bytes = size_of(judge.dtype());
  const auto pack = static_cast<std::int64_t>(16 / bytes);
  for (const gather::Variant variant : gather::kVariants)
    for (const std::int64_t inner : {std::int64_t{1}, 512 * pack, 40 * pack + 1}) {
      const auto row = static_cast<std::size_t>(inner) * bytes;
      const auto table =
          DeviceBuffer<std::byte>::from_host(std::vector<std::byte>(4 * row), judge.stream());
      const DeviceBuffer<std::byte> y(3 * row);
      for (const std::int64_t wrong :
           {std::int64_t{-1}, std::int64_t{4}, kMost, kWide + 1, 1 - kWide}) {
        const auto index = DeviceBuffer<std::int64_t>::from_host(
            std::vector<std::int64_t>{wrong, 3, 0}, judge.stream());
        const std::string text = error_of([&] {
          gather::run(table.data(), index.data(), y.data(), {1, 4, inner, 3}, bytes, variant,
                      judge.stream());
          judge.stream().synchronize();
        });
        EXPECT_NE(text.find("__trap() was called"), std::string::npos)
            << name(variant) << ", rows of " << inner << ", index " << wrong << ": " << text;
      }
    }
}

// Arguments that the contract's problems cannot have.
KG_OWN_TEST(RefusesProblems) {
  const DeviceBuffer<double> table(64), y(64);
  const auto index =
      DeviceBuffer<std::int32_t>::from_host(std::vector<std::int32_t>{2, 0}, judge.stream());
  const auto run = [&](const gather::Problem& p, std::size_t bytes) {
    gather::run(table.data(), index.data(), y.data(), p, bytes, gather::Variant::automatic,
                judge.stream());
  };
  LaunchRecorder recorder;
  EXPECT_THROW(run({1, 0, 2, 2}, size_of(judge.dtype())), Error);
  EXPECT_THROW(run({1, 3, 2, 2}, 3), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
