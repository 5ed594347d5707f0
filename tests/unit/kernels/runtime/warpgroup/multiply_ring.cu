// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/warpgroup/multiply_ring.h"

#include "instructions/cp_async_bulk.h"
#include "instructions/cp_async_bulk_tensor.h"
#include "instructions/elect.h"
#include "instructions/fence_proxy_async.h"
#include "instructions/mbarrier.h"
#include "instructions/named_barrier.h"
#include "instructions/setmaxnreg.h"
#include "instructions/stmatrix.h"
#include "instructions/wgmma.h"
#include "tests/unit/kernels/runtime/warpgroup/aligned_tiles.h"

namespace kg::warpgroup {
namespace {

constexpr int kWarpgroup = 128, kGroupRows = 64, kSums = kRingColumns / 2; // a thread's
constexpr unsigned kRowBytes = kRingDepth * 2;
constexpr unsigned kBytesOfA = kRingRows * kRowBytes, kBytesOfB = kRingColumns * kRowBytes;
constexpr unsigned kStageBytes = kBytesOfA + kBytesOfB;
constexpr unsigned kResultBytes = kGroupRows * kRingColumns * 2; // of a warpgroup

// Where the ring goes on: the same for who fills and who empties it.
struct Place {
  int stage = 0;
  unsigned round = 0; // its parity
  __device__ __forceinline__ void next() {
    if (++stage < kRingStages) return;
    stage = 0;
    round ^= 1;
  }
};

constexpr unsigned expected_bytes(RingMutant mutant) {
  return mutant == RingMutant::too_few_bytes    ? kStageBytes - 16
         : mutant == RingMutant::too_many_bytes ? kStageBytes + 16
                                                : kStageBytes;
}

__device__ __forceinline__ unsigned packed(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  unsigned word;
  memcpy(&word, &both, sizeof word);
  return word;
}

template <RingMutant kMutant>
__device__ __forceinline__ void fill(const TensorMap& a, const TensorMap& b, unsigned char* ring,
                                     std::uint64_t* full, std::uint64_t* empty, int tiles,
                                     int columns, int steps) {
  Place at;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int row = tile / columns * kRingRows, column = tile % columns * kRingColumns;
    for (int step = 0; step < steps; ++step, at.next()) {
      const int of_a[] = {step * kRingDepth, row}, of_b[] = {step * kRingDepth, column};
      unsigned char* const to = ring + at.stage * kStageBytes;
      ptx::mbarrier_wait_parity(empty + at.stage, at.round ^ 1);
      ptx::mbarrier_arrive_expect_tx(full + at.stage, expected_bytes(kMutant));
      ptx::cp_async_bulk_tensor_load(to, a, of_a, full + at.stage);
      ptx::cp_async_bulk_tensor_load(to + kBytesOfA, b, of_b, full + at.stage);
    }
  }
}

// The sums of a warp's 16 rows, as bf16 with the swizzle of the map: units of 16 bytes change their
// places by the row.
__device__ __forceinline__ void put(unsigned char* result, const float (&sums)[kSums]) {
  const unsigned lane = threadIdx.x % 32, matrix = lane / 8;
  const unsigned row = threadIdx.x % kWarpgroup / 32 * 16 + matrix % 2 * 8 + lane % 8;
  KG_UNROLL
  for (unsigned pair = 0; pair < kRingColumns / 16; ++pair) {
    unsigned words[4];
    KG_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned first = 4 * (2 * pair + i / 2) + 2 * (i % 2);
      words[i] = packed(sums[first], sums[first + 1]);
    }
    const unsigned unit = 2 * pair + matrix / 2;
    ptx::stmatrix(result + row * kRowBytes + (unit ^ row % 8) * 16, words);
  }
}

template <RingMutant kMutant>
__device__ __forceinline__ void multiply(const TensorMap& c, const unsigned char* ring,
                                         unsigned char* result, std::uint64_t* full,
                                         std::uint64_t* empty, int tiles, int columns, int steps) {
  const int group = threadIdx.x / kWarpgroup;
  const bool leads = threadIdx.x % kWarpgroup == 0;
  const ptx::MatrixLayout layout{ptx::MatrixSwizzle::bytes128, 16, 8 * kRowBytes};
  constexpr unsigned kOther = kMutant == RingMutant::parity_of_other_round ? 1 : 0;
  float sums[kSums];
  Place at;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    for (int step = 0; step < steps; ++step, at.next()) {
      const unsigned char* const of_a = ring + at.stage * kStageBytes;
      const auto a = ptx::matrix_descriptor(of_a + group * kGroupRows * kRowBytes, layout);
      const auto b = ptx::matrix_descriptor(of_a + kBytesOfA, layout);
      ptx::mbarrier_wait_parity(full + at.stage, at.round ^ kOther);
      ptx::wgmma_fence();
      KG_UNROLL
      for (unsigned k = 0; k < kRingDepth / 16; ++k)
        ptx::wgmma<ptx::MatrixElement::bf16>(sums, a + 32 * k, b + 32 * k, step > 0 || k > 0);
      ptx::wgmma_commit();
      ptx::wgmma_wait_group<0>(sums);
      if (leads) ptx::mbarrier_arrive(empty + at.stage);
    }
    if (kMutant != RingMutant::store_not_waited_for && leads)
      ptx::cp_async_bulk_wait_group_read<0>(); // of the tile before
    ptx::named_barrier_sync(1 + group, kWarpgroup);
    put(result, sums);
    if (kMutant != RingMutant::proxy_fence_missing) ptx::fence_proxy_async_shared();
    ptx::named_barrier_sync(1 + group, kWarpgroup);
    if (!leads) continue;
    const int first[] = {tile % columns * kRingColumns,
                         tile / columns * kRingRows + group * kGroupRows};
    ptx::cp_async_bulk_tensor_store(c, first, result);
    ptx::cp_async_bulk_commit();
  }
  if (leads) ptx::cp_async_bulk_wait_group<0>();
}

} // namespace

template <RingMutant kMutant>
__global__ void __launch_bounds__(kRingThreads, 1)
    multiply_ring(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                  const __grid_constant__ TensorMap c, int rows, int columns, int steps) {
  unsigned char* const ring = aligned_tiles();
  unsigned char* const results = ring + kRingStages * kStageBytes;
  __shared__ std::uint64_t full[kRingStages], empty[kRingStages];
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kRingStages; ++stage) {
      ptx::mbarrier_init(full + stage, 1);
      ptx::mbarrier_init(empty + stage, 2);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  const int warp = threadIdx.x / 32, group = threadIdx.x / kWarpgroup;
  if (group < 2) {
    ptx::setmaxnreg_inc<232>();
    multiply<kMutant>(c, ring, results + group * kResultBytes, full, empty, rows * columns, columns,
                      steps);
  } else {
    ptx::setmaxnreg_dec<40>();
    if (warp == 8 && ptx::elect_sync())
      fill<kMutant>(a, b, ring, full, empty, rows * columns, columns, steps);
  }
}

#define KG_MULTIPLY_RING(mutant)                                                                   \
  template __global__ void multiply_ring<RingMutant::mutant>(                                      \
      const __grid_constant__ TensorMap, const __grid_constant__ TensorMap,                        \
      const __grid_constant__ TensorMap, int, int, int);
KG_MULTIPLY_RING(none)
KG_MULTIPLY_RING(parity_of_other_round)
KG_MULTIPLY_RING(proxy_fence_missing)
KG_MULTIPLY_RING(too_few_bytes)
KG_MULTIPLY_RING(too_many_bytes)
KG_MULTIPLY_RING(store_not_waited_for)
#undef KG_MULTIPLY_RING

} // namespace kg::warpgroup
