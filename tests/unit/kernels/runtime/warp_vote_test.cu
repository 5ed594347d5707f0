// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Warp votes, matches and reductions.
#include "tests/unit/kernels/runtime/executor_support.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kg::executor {
namespace {

constexpr unsigned kFull = 0xffffffffu;
constexpr unsigned kAllButFour = 0xfffffff0u;

// --- Votes and matches ---

struct WarpVotes {
  unsigned ballot, any, all;
};

__global__ void vote(unsigned mask, unsigned yes, WarpVotes* out) {
  const unsigned lane = threadIdx.x % 32;
  if ((mask >> lane & 1) == 0) return;
  const int predicate = (yes >> lane & 1) != 0 ? -8 : 0;
  out[threadIdx.x] = {__ballot_sync(mask, predicate),
                      static_cast<unsigned>(__any_sync(mask, predicate)),
                      static_cast<unsigned>(__all_sync(mask, predicate))};
}

TEST(WarpVote, BallotAnyAndAll) {
  under_every_order([] {
    for (const unsigned mask : {kFull, 0x0f0f0ff0u, 0x80000000u}) {
      for (const unsigned yes : {0u, kFull, 0x00f00010u, 0x80000000u}) {
        const auto out = filled<WarpVotes>(64, [&](WarpVotes* data, Stream& stream) {
          launch(vote, {.grid = 1, .block = 64, .stream = &stream}, mask, yes, data);
        });
        for (unsigned i = 0; i < 64; ++i) {
          if ((mask >> i % 32 & 1) == 0) continue;
          EXPECT_EQ(out[i].ballot, mask & yes);
          EXPECT_EQ(out[i].any, static_cast<unsigned>((mask & yes) != 0));
          EXPECT_EQ(out[i].all, static_cast<unsigned>((mask & yes) == mask));
        }
      }
    }
  });
}

struct Matches {
  unsigned any, all_equal, all_different;
  int equal, different;
};

// Values of 8 bytes differ in the upper half only.
template <class T>
__device__ T label(unsigned i) {
  return static_cast<T>(sizeof(T) == 8 ? static_cast<double>(i) * 0x1p40 : static_cast<double>(i));
}

template <class T>
__global__ void match(unsigned mask, Matches* out) {
  if ((mask >> threadIdx.x & 1) == 0) return;
  Matches& mine = out[threadIdx.x];
  mine.any = __match_any_sync(mask, label<T>(threadIdx.x % 3));
  mine.all_equal = __match_all_sync(mask, label<T>(1), &mine.equal);
  mine.all_different = __match_all_sync(mask, label<T>(threadIdx.x == 30), &mine.different);
}

template <class T>
class WarpMatch : public testing::Test {};
using MatchedTypes = testing::Types<int, unsigned, long long, unsigned long long, float, double>;
TYPED_TEST_SUITE(WarpMatch, MatchedTypes);

TYPED_TEST(WarpMatch, AnyAndAll) {
  under_every_order([] {
    const auto out = filled<Matches>(32, [](Matches* data, Stream& stream) {
      launch(match<TypeParam>, {.grid = 1, .block = 32, .stream = &stream}, kAllButFour, data);
    });
    for (unsigned i = 4; i < 32; ++i) {
      EXPECT_EQ(out[i].any, kAllButFour & (0x49249249u << i % 3)) << i;
      EXPECT_EQ(out[i].all_equal, kAllButFour);
      EXPECT_EQ(out[i].equal, 1);
      EXPECT_EQ(out[i].all_different, 0u);
      EXPECT_EQ(out[i].different, 0);
    }
  });
}

// --- Reductions ---

struct Reductions {
  int add, min, max;
  unsigned uadd, umin, umax, bit_and, bit_or, bit_xor;
};

__global__ void reduce(unsigned mask, Reductions* out) {
  const unsigned lane = threadIdx.x;
  if ((mask >> lane & 1) == 0) return;
  const int s = static_cast<int>(lane) - 12;
  const unsigned u = 0x80000000u + lane;
  out[lane] = {__reduce_add_sync(mask, s),          __reduce_min_sync(mask, s),
               __reduce_max_sync(mask, s),          __reduce_add_sync(mask, u),
               __reduce_min_sync(mask, u),          __reduce_max_sync(mask, u),
               __reduce_and_sync(mask, u | 0x100u), __reduce_or_sync(mask, 1u << lane),
               __reduce_xor_sync(mask, u)};
}

TEST(WarpReduce, CombinesTheLanesOfTheMask) {
  under_every_order([] {
    for (const unsigned mask : {kFull, 0x00ff0ff0u, 0x10u}) {
      Reductions expected{0, 99, -99, 0, ~0u, 0, ~0u, 0, 0};
      for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const int s = static_cast<int>(lane) - 12;
        const unsigned u = 0x80000000u + lane;
        expected.add += s;
        expected.min = std::min(expected.min, s);
        expected.max = std::max(expected.max, s);
        expected.uadd += u;
        expected.umin = std::min(expected.umin, u);
        expected.umax = std::max(expected.umax, u);
        expected.bit_and &= u | 0x100u;
        expected.bit_or |= 1u << lane;
        expected.bit_xor ^= u;
      }
      const auto out = filled<Reductions>(32, [&](Reductions* data, Stream& stream) {
        launch(reduce, {.grid = 1, .block = 32, .stream = &stream}, mask, data);
      });
      for (unsigned i = 0; i < 32; ++i) {
        if ((mask >> i & 1) == 0) continue;
        EXPECT_EQ(std::memcmp(&out[i], &expected, sizeof expected), 0) << "lane " << i;
      }
    }
  });
}

} // namespace
} // namespace kg::executor
