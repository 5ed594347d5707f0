// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/warpgroup/attend_tiles.h"

#include "instructions/cp_async_bulk_tensor.h"
#include "instructions/exp2.h"
#include "instructions/mbarrier.h"
#include "instructions/named_barrier.h"
#include "instructions/setmaxnreg.h"
#include "instructions/wgmma.h"
#include "tests/unit/kernels/runtime/warpgroup/aligned_tiles.h"

namespace kg::warpgroup {
namespace {

constexpr int kStages = 2, kWarpgroup = 128, kSums = kDepth / 2; // a thread's, of 64 x 64
constexpr unsigned kRowBytes = kDepth * 2, kTileBytes = kKeys * kRowBytes;
constexpr unsigned kQueryBytes = kQueries * kRowBytes;
constexpr auto kType = ptx::MatrixElement::bf16;

// Full: bytes have come. Empty: both warpgroups have multiplied by them.
struct Barriers {
  std::uint64_t queries;
  std::uint64_t full_k[kStages], full_v[kStages], empty_k[kStages], empty_v[kStages];
};

struct Tiles {
  unsigned char *q, *k, *v;
};

constexpr unsigned expected_bytes(AttendMutant mutant) {
  return mutant == AttendMutant::too_few_bytes    ? kTileBytes - 16
         : mutant == AttendMutant::too_many_bytes ? kTileBytes + 16
                                                  : kTileBytes;
}

__device__ __forceinline__ void copy_tile(const TensorMap& map, unsigned char* to,
                                          std::uint64_t* full, std::uint64_t* empty, int tile,
                                          unsigned bytes) {
  const int stage = tile % kStages, first[] = {0, tile * kKeys};
  ptx::mbarrier_wait_parity(empty + stage, tile / kStages % 2 ^ 1);
  ptx::mbarrier_arrive_expect_tx(full + stage, bytes);
  ptx::cp_async_bulk_tensor_load(to + stage * kTileBytes, map, first, full + stage);
}

__device__ __forceinline__ unsigned pair(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  unsigned word;
  memcpy(&word, &both, sizeof word);
  return word;
}

// One warpgroup's 64 queries. Rows h = 0, 1 of a thread are r and r + 8 of its warp's 16.
template <AttendMutant kMutant>
struct Attention {
  float scores[kSums], sums[kSums], largest[2], total[2], shrinks[2];
  unsigned weights[kKeys / 16][4]; // as the operand A of the next product

  __device__ __forceinline__ void multiply_keys(const unsigned char* q, const unsigned char* k) {
    const ptx::MatrixLayout layout{ptx::MatrixSwizzle::bytes128, 16, 8 * kRowBytes};
    const auto a = ptx::matrix_descriptor(q, layout), b = ptx::matrix_descriptor(k, layout);
    ptx::wgmma_fence();
    KG_UNROLL
    for (unsigned step = 0; step < kDepth / 16; ++step)
      ptx::wgmma<kType>(scores, a + 32 * step, b + 32 * step, step > 0);
    ptx::wgmma_commit();
  }
  // Rows of v are k: its columns lie next to each other.
  __device__ __forceinline__ void multiply_values(const unsigned char* v) {
    const ptx::MatrixLayout layout{ptx::MatrixSwizzle::bytes128, kTileBytes, 8 * kRowBytes};
    const auto b = ptx::matrix_descriptor(v, layout);
    if constexpr (kMutant != AttendMutant::register_fence_missing) ptx::wgmma_fence();
    KG_UNROLL
    for (unsigned step = 0; step < kKeys / 16; ++step)
      ptx::wgmma<kType, false>(sums, weights[step], b + 16 * kRowBytes * step, true);
    ptx::wgmma_commit();
  }
  __device__ __forceinline__ void exponentials(float scale) {
    KG_UNROLL
    for (int h = 0; h < 2; ++h) {
      float most = largest[h];
      KG_UNROLL
      for (int i = 0; i < kSums; ++i)
        if (i / 2 % 2 == h) most = fmaxf(most, scores[i]);
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
      shrinks[h] = ptx::exp2_flushed((largest[h] - most) * scale);
      largest[h] = most;
      total[h] *= shrinks[h];
      KG_UNROLL
      for (int i = 0; i < kSums; ++i) {
        if (i / 2 % 2 != h) continue;
        scores[i] = ptx::exp2_flushed((scores[i] - most) * scale);
        total[h] += scores[i];
      }
    }
  }
  __device__ __forceinline__ void pack() {
    KG_UNROLL
    for (int i = 0; i < kSums / 2; ++i)
      weights[i / 4][i % 4] = pair(scores[2 * i], scores[2 * i + 1]);
  }
  __device__ __forceinline__ void shrink() {
    KG_UNROLL
    for (int i = 0; i < kSums; ++i) sums[i] *= shrinks[i / 2 % 2];
  }
};

template <AttendMutant kMutant>
__device__ __forceinline__ void attend(const Tiles& of, Barriers& barriers, float* out, int tiles,
                                       float scale) {
  const int thread = threadIdx.x % kWarpgroup, group = threadIdx.x / kWarpgroup;
  const unsigned char* const queries = of.q + group * 64 * kRowBytes;
  Attention<kMutant> my;
  KG_UNROLL
  for (int i = 0; i < kSums; ++i) my.sums[i] = 0;
  my.largest[0] = my.largest[1] = -1e30f;
  my.total[0] = my.total[1] = 0;
  const auto parity = [](int tile) {
    return kMutant == AttendMutant::parity_of_other_round ? 1 ^ tile / kStages % 2
                                                          : tile / kStages % 2;
  };
  const auto done = [&](std::uint64_t* empty, int tile) {
    if (thread == 0) ptx::mbarrier_arrive(empty + tile % kStages);
  };

  ptx::mbarrier_wait_parity(&barriers.queries, 0);
  ptx::mbarrier_wait_parity(barriers.full_k, parity(0));
  my.multiply_keys(queries, of.k);
  ptx::wgmma_wait_group<0>(my.scores);
  done(barriers.empty_k, 0);
  my.exponentials(scale);
  my.pack();
  const auto wait_for_keys = [&](int tile) {
    if (tile < tiles) ptx::mbarrier_wait_parity(barriers.full_k + tile % kStages, parity(tile));
  };
  wait_for_keys(1);
  for (int tile = 1; tile < tiles; ++tile) {
    const int now = tile % kStages, before = (tile - 1) % kStages;
    ptx::mbarrier_wait_parity(barriers.full_v + before, parity(tile - 1));
    my.multiply_keys(queries, of.k + now * kTileBytes);
    my.multiply_values(of.v + before * kTileBytes);
    if constexpr (kMutant == AttendMutant::values_released_early) done(barriers.empty_v, tile - 1);
    ptx::wgmma_wait_group<1>(my.scores);
    done(barriers.empty_k, tile);
    my.exponentials(scale);
    if constexpr (kMutant == AttendMutant::weights_overwritten) my.pack();
    if constexpr (kMutant == AttendMutant::sums_scaled_early) my.shrink();
    // ptxas moves the next wait in front of the exponentials, but not past this loop.
    if constexpr (kMutant != AttendMutant::nothing_overlaps) wait_for_keys(tile + 1);
    ptx::wgmma_wait_group<0>(my.sums);
    if constexpr (kMutant == AttendMutant::nothing_overlaps) wait_for_keys(tile + 1);
    if constexpr (kMutant != AttendMutant::values_released_early) done(barriers.empty_v, tile - 1);
    if constexpr (kMutant != AttendMutant::weights_overwritten) my.pack();
    if constexpr (kMutant != AttendMutant::sums_scaled_early) my.shrink();
  }
  const int last = tiles - 1;
  ptx::mbarrier_wait_parity(barriers.full_v + last % kStages, parity(last));
  my.multiply_values(of.v + last % kStages * kTileBytes);
  ptx::wgmma_wait_group<0>(my.sums);

  KG_UNROLL
  for (int h = 0; h < 2; ++h) {
    my.total[h] += __shfl_xor_sync(~0u, my.total[h], 1);
    my.total[h] += __shfl_xor_sync(~0u, my.total[h], 2);
  }
  const int row = group * 64 + thread / 32 * 16 + thread % 32 / 4;
  KG_UNROLL
  for (int i = 0; i < kSums; ++i) {
    const int h = i / 2 % 2;
    out[(row + 8 * h) * kDepth + i / 4 * 8 + thread % 4 * 2 + i % 2] = my.sums[i] / my.total[h];
  }
}

} // namespace

template <AttendMutant kMutant>
__global__ void __launch_bounds__(kAttendThreads, 1)
    attend_tiles(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k,
                 const __grid_constant__ TensorMap v, float* out, int tiles, float scale) {
  unsigned char* const memory = aligned_tiles();
  const Tiles of{memory, memory + kQueryBytes, memory + kQueryBytes + kStages * kTileBytes};
  __shared__ Barriers barriers;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barriers.queries, 1);
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_init(barriers.full_k + stage, 1);
      ptx::mbarrier_init(barriers.full_v + stage, 1);
      ptx::mbarrier_init(barriers.empty_k + stage, 2);
      ptx::mbarrier_init(barriers.empty_v + stage, 2);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < 2 * kWarpgroup) {
    ptx::setmaxnreg_inc<240>();
    attend<kMutant>(of, barriers, out, tiles, scale);
    return;
  }
  ptx::setmaxnreg_dec<24>();
  if (threadIdx.x != 2 * kWarpgroup) return;
  constexpr int kFirst[] = {0, 0};
  ptx::mbarrier_arrive_expect_tx(&barriers.queries, kQueryBytes);
  ptx::cp_async_bulk_tensor_load(of.q, q, kFirst, &barriers.queries);
  for (int tile = 0; tile < tiles; ++tile) {
    copy_tile(k, of.k, barriers.full_k, barriers.empty_k, tile, kTileBytes);
    copy_tile(v, of.v, barriers.full_v, barriers.empty_v, tile, expected_bytes(kMutant));
  }
}

#define KG_ATTEND(mutant)                                                                          \
  template __global__ void attend_tiles<AttendMutant::mutant>(                                     \
      const __grid_constant__ TensorMap, const __grid_constant__ TensorMap,                        \
      const __grid_constant__ TensorMap, float*, int, float);
KG_ATTEND(none)
KG_ATTEND(parity_of_other_round)
KG_ATTEND(register_fence_missing)
KG_ATTEND(too_few_bytes)
KG_ATTEND(too_many_bytes)
KG_ATTEND(values_released_early)
KG_ATTEND(weights_overwritten)
KG_ATTEND(sums_scaled_early)
KG_ATTEND(nothing_overlaps)
#undef KG_ATTEND

} // namespace kg::warpgroup
