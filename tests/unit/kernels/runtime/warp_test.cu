// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Warp collectives: shuffles, __syncwarp and __activemask; masks, sub-warp groups, exited lanes.
// Votes, matches and reductions: warp_vote_test.cu.
#include "tests/unit/kernels/runtime/executor_support.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>

namespace kg::executor {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

constexpr unsigned kFull = 0xffffffffu;

enum class Shuffle { index, up, down, exclusive_or };

// --- Shuffles ---

// The lane that `lane` reads: the pseudo-code of shfl.sync in the PTX ISA, with the operand c that
// the CUDA intrinsics give it. The operand counts modulo 32.
int source_lane(Shuffle kind, int lane, int operand, int width) {
  const int segment_mask = 32 - width; // operand c, bits 8 to 12
  const int clamp = kind == Shuffle::up ? 0 : 31;
  const int b = operand & 31;
  const int highest = (lane & segment_mask) | (clamp & ~segment_mask & 31);
  const int lowest = lane & segment_mask;
  switch (kind) {
  case Shuffle::up: return lane - b >= highest ? lane - b : lane;
  case Shuffle::down: return lane + b <= highest ? lane + b : lane;
  case Shuffle::exclusive_or: return (lane ^ b) <= highest ? lane ^ b : lane;
  case Shuffle::index: break;
  }
  const int source = lowest | (b & ~segment_mask);
  return source <= highest ? source : lane;
}

// A value that tells its lane, in every bit that T has.
template <class T>
__host__ __device__ T value_of(int lane) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<T>(0x0123456789abcdefLL) - static_cast<T>(lane) * 3);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(1.0 / 3.0) + static_cast<T>(lane);
  } else {
    return from_float<T>(static_cast<float>(lane) + 0.25f);
  }
}

template <class T>
__device__ T shuffled(Shuffle kind, unsigned mask, T value, int operand, int width) {
  switch (kind) {
  case Shuffle::up: return __shfl_up_sync(mask, value, static_cast<unsigned>(operand), width);
  case Shuffle::down: return __shfl_down_sync(mask, value, static_cast<unsigned>(operand), width);
  case Shuffle::exclusive_or: return __shfl_xor_sync(mask, value, operand, width);
  case Shuffle::index: break;
  }
  return __shfl_sync(mask, value, operand, width);
}

// Every kind with every width and every operand: the results of the block's threads, one call after
// the other.
template <class T>
__global__ void shuffle_all(const int* widths, int width_count, const int* operands,
                            int operand_count, T* out) {
  for (const Shuffle kind : {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::exclusive_or}) {
    for (int w = 0; w < width_count; ++w) {
      for (int o = 0; o < operand_count; ++o, out += blockDim.x) {
        out[threadIdx.x] = shuffled(kind, kFull, value_of<T>(static_cast<int>(threadIdx.x % 32)),
                                    operands[o], widths[w]);
      }
    }
  }
}

template <class T>
class TypedWarpShuffle : public testing::Test {};
using ShuffledTypes =
    testing::Types<int, unsigned, long long, unsigned long long, float, double, f16, bf16>;
TYPED_TEST_SUITE(TypedWarpShuffle, ShuffledTypes);

TYPED_TEST(TypedWarpShuffle, ReadsTheLaneThatPtxDefines) {
  const std::vector<int> widths = {1, 2, 4, 8, 16, 32};
  const std::vector<int> operands = {0, 1, 2, 5, 15, 16, 31, 32, 33, 40, -1};
  under_every_order([&] {
    const auto out = filled<TypeParam>(
        4 * widths.size() * operands.size() * 64, [&](TypeParam* data, Stream& stream) {
          launch(shuffle_all<TypeParam>, {.grid = 1, .block = 64, .stream = &stream}, widths.data(),
                 static_cast<int>(widths.size()), operands.data(),
                 static_cast<int>(operands.size()), data);
        });
    const TypeParam* actual = out.data();
    for (const Shuffle kind : {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::exclusive_or}) {
      for (const int width : widths) {
        for (const int operand : operands) {
          for (int i = 0; i < 64; ++i, ++actual) {
            const auto expected = value_of<TypeParam>(source_lane(kind, i % 32, operand, width));
            ASSERT_EQ(std::memcmp(actual, &expected, sizeof expected), 0)
                << "shuffle " << static_cast<int>(kind) << " operand " << operand << " width "
                << width << " lane " << i;
          }
        }
      }
    }
  });
}

__global__ void shuffle_pairs(half2* out) {
  const auto lane = static_cast<float>(threadIdx.x);
  out[threadIdx.x] = __shfl_xor_sync(kFull, __floats2half2_rn(lane, lane + 0.5f), 1);
}

TEST(WarpShuffle, MovesPairsOfHalves) {
  const auto out = filled<half2>(32, [](half2* data, Stream& stream) {
    launch(shuffle_pairs, {.grid = 1, .block = 32, .stream = &stream}, data);
  });
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(__low2float(out[i]), static_cast<float>(i ^ 1));
    EXPECT_EQ(__high2float(out[i]), static_cast<float>(i ^ 1) + 0.5f);
  }
}

// CUDA leaves the value undefined when the source lane does not take part: the executor makes it
// NaN.
template <class T>
__global__ void read_absent_lane(unsigned exits_from, unsigned mask, T* out) {
  out[threadIdx.x] = value_of<T>(0);
  if (threadIdx.x >= exits_from) return;
  if ((mask >> threadIdx.x & 1) != 0) out[threadIdx.x] = __shfl_sync(mask, value_of<T>(0), 20);
}

template <class T>
void expect_nan_from_absent_lane() {
  under_every_order([] {
    const auto absent = [](unsigned exits_from, unsigned mask) {
      const auto out = filled<T>(32, [&](T* data, Stream& stream) {
        launch(read_absent_lane<T>, {.grid = 1, .block = 32, .stream = &stream}, exits_from, mask,
               data);
      });
      unsigned lanes = 0;
      for (unsigned i = 0; i < 32; ++i) {
        const double value = [&] {
          if constexpr (sizeof(T) == 2)
            return static_cast<double>(to_float(out[i]));
          else
            return static_cast<double>(out[i]);
        }();
        lanes |= static_cast<unsigned>(std::isnan(value)) << i;
      }
      return lanes;
    };
    EXPECT_EQ(absent(32, kFull), 0u);
    EXPECT_EQ(absent(20, kFull), 0xfffffu) << "lane 20 has exited";
    EXPECT_EQ(absent(32, 0xffu), 0xffu) << "lane 20 is not in the mask";
  });
}

TEST(WarpShuffle, FromAbsentLaneIsNan) {
  expect_nan_from_absent_lane<float>();
  expect_nan_from_absent_lane<double>();
  expect_nan_from_absent_lane<f16>();
  expect_nan_from_absent_lane<bf16>();
}

// --- Masks ---

// Lanes 0-7, 8-15 and 16-31 go their own ways, with different numbers of collectives.
__global__ void groups_side_by_side(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  unsigned value = lane;
  if (lane < 8) {
    for (int i = 0; i < 3; ++i) value += __shfl_xor_sync(0xffu, value, 1 << i);
  } else if (lane < 16) {
    value = __ballot_sync(0xff00u, lane % 2 == 0);
  } else {
    for (int i = 0; i < 4; ++i) value += __shfl_xor_sync(0xffff0000u, value, 1 << i);
    value += __reduce_max_sync(0xffff0000u, lane);
  }
  __syncwarp();
  out[threadIdx.x] = value + __shfl_sync(kFull, value, 0) * 1000;
}

TEST(WarpMask, GroupsRunSideBySide) {
  under_every_order([] {
    const auto out = filled<unsigned>(96, [](unsigned* data, Stream& stream) {
      launch(groups_side_by_side, {.grid = 1, .block = 96, .stream = &stream}, data);
    });
    for (unsigned i = 0; i < 96; ++i) {
      const unsigned lane = i % 32;
      const unsigned value = lane < 8 ? 28 : lane < 16 ? 0x5500 : 376 + 31;
      EXPECT_EQ(out[i], value + 28000) << i;
    }
  });
}

// Warp 0 waits in a block barrier that warp 1 reaches only after its own collectives.
__global__ void warp_alone(unsigned* out) {
  unsigned value = 0;
  if (threadIdx.x >= 32) value = __reduce_add_sync(kFull, threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = value;
}

TEST(WarpMask, OtherWarpsAreNotWaitedFor) {
  under_every_order([] {
    const auto out = filled<unsigned>(64, [](unsigned* data, Stream& stream) {
      launch(warp_alone, {.grid = 1, .block = 64, .stream = &stream}, data);
    });
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 32 ? 0u : 16 * 95u);
  });
}

// Lanes leave one by one; those who stay keep the full mask.
__global__ void dwindling(unsigned* out) {
  for (unsigned round = 0; round < 32; ++round) {
    if (threadIdx.x % 32 < round) return;
    out[threadIdx.x] = __ballot_sync(kFull, 1);
  }
}

TEST(WarpMask, ExitedLanesAreNotWaitedFor) {
  under_every_order([] {
    const auto out = filled<unsigned>(40, [](unsigned* data, Stream& stream) {
      launch(dwindling, {.grid = 1, .block = 40, .stream = &stream}, data);
    });
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], kFull << i) << i;
    for (unsigned i = 32; i < 40; ++i) EXPECT_EQ(out[i], kFull << (i - 32) & 0xffu) << i;
  });
}

// The lanes below wait in a collective while the last one spins until they do, then exits.
__global__ void exit_completes(unsigned* waiting, unsigned* out) {
  if (threadIdx.x == 9) {
    while (atomicAdd(waiting, 0) < 9) __nanosleep(10);
    return;
  }
  atomicAdd(waiting, 1);
  out[threadIdx.x] = __ballot_sync(0x3ffu, 1);
}

TEST(WarpMask, ExitOfTheLastMissingLaneCompletes) {
  under_every_order([] {
    unsigned waiting = 0;
    const auto out = filled<unsigned>(9, [&](unsigned* data, Stream& stream) {
      launch(exit_completes, {.grid = 1, .block = 10, .stream = &stream}, &waiting, data);
    });
    EXPECT_THAT(out, Each(0x1ffu));
  });
}

constexpr int kOutsideLine = __LINE__ + 1;
__global__ void outside_mask(unsigned mask) { __ballot_sync(mask, 1); }

TEST(WarpMask, MustContainTheCallingLane) {
  under_every_order([] {
    EXPECT_THAT(error_of([] { launch(outside_mask, {.grid = 1, .block = 20}, 0x7ffffu); }),
                AllOf(HasSubstr(place("warp_test.cu", kOutsideLine)), HasSubstr("thread (19,0,0)"),
                      HasSubstr("__ballot_sync was called by a lane that its mask 0x7ffff does "
                                "not name")));
  });
  EXPECT_EQ(error_of([] { launch(outside_mask, {.grid = 1, .block = 20}, 0xfffffu); }), "");
}

// --- __syncwarp ---

__global__ void rotate_in_warp(bool with_barrier, unsigned* out) {
  __shared__ unsigned values[32];
  values[threadIdx.x] = threadIdx.x;
  __syncwarp();
  for (int i = 0; i < 5; ++i) {
    const unsigned next = values[(threadIdx.x + 1) % 32];
    if (with_barrier) __syncwarp();
    values[threadIdx.x] = next;
    __syncwarp();
  }
  out[threadIdx.x] = values[threadIdx.x];
}

TEST(WarpBarrier, OrdersSharedMemoryAndIsMissedWhenItIsMissing) {
  const auto rotated = [](bool with_barrier) {
    const auto out = filled<unsigned>(32, [&](unsigned* data, Stream& stream) {
      launch(rotate_in_warp, {.grid = 1, .block = 32, .stream = &stream}, with_barrier, data);
    });
    unsigned right = 0;
    for (unsigned i = 0; i < 32; ++i) right += out[i] == (i + 5) % 32;
    return right;
  };
  under_every_order([&] {
    EXPECT_EQ(rotated(true), 32u);
    EXPECT_LT(rotated(false), 32u); // lane 31's neighbour is lane 0: wrong in every order
  });
}

// --- __activemask ---

__global__ void active_lanes(unsigned* out) {
  if (threadIdx.x % 4 == 0) {
    out[threadIdx.x] = __activemask();
  } else if (threadIdx.x < 16) {
    out[threadIdx.x] = __activemask();
  } else {
    out[threadIdx.x] = 0;
  }
}

TEST(WarpActive, IsTheLanesThatReachTheCall) {
  under_every_order([] {
    const auto out = filled<unsigned>(32, [](unsigned* data, Stream& stream) {
      launch(active_lanes, {.grid = 1, .block = 32, .stream = &stream}, data);
    });
    for (unsigned i = 0; i < 32; ++i) {
      EXPECT_EQ(out[i], i % 4 == 0 ? 0x11111111u : i < 16 ? 0xeeeeu : 0u) << i;
    }
  });
}

} // namespace
} // namespace kg::executor
