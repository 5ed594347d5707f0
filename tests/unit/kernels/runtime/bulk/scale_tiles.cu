// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/bulk/scale_tiles.h"

#include "instructions/cp_async_bulk.h"
#include "instructions/fence_proxy_async.h"
#include "instructions/mbarrier.h"
#include "instructions/named_barrier.h"

namespace kg::bulk {
namespace {

struct Ring {
  float (*stage)[kTile];
  std::uint64_t* full;
  std::uint64_t* empty;
};

constexpr unsigned kBytes = kTile * sizeof(float);
constexpr int kOfConsumers = 1; // named barrier

__device__ void load_tiles(const float* in, unsigned tiles, Ring ring, Mutant mutant) {
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const unsigned s = tile % kStages;
    const unsigned parity = tile / kStages % 2;
    const unsigned flipped = mutant == Mutant::empty_of_other_parity ? 0 : 1;
    if (mutant != Mutant::empty_not_awaited)
      ptx::mbarrier_wait_parity(&ring.empty[s], parity ^ flipped);
    unsigned expected = kBytes;
    if (mutant == Mutant::bytes_too_few) expected -= 16;
    if (mutant == Mutant::bytes_too_many) expected += 16;
    if (mutant == Mutant::bytes_of_first_half) expected /= 2;
    ptx::mbarrier_arrive_expect_tx(&ring.full[s], expected);
    const unsigned off = mutant == Mutant::destination_misaligned ? 2 : 0;
    const unsigned from = mutant == Mutant::source_misaligned ? 1 : 0;
    const unsigned short_of = mutant == Mutant::size_misaligned ? 8 : 0;
    constexpr unsigned kHalf = kTile / 2;
    ptx::cp_async_bulk_load(ring.stage[s] + off, in + tile * kTile + from, kBytes / 2 - short_of,
                            &ring.full[s]);
    ptx::cp_async_bulk_load(ring.stage[s] + kHalf, in + tile * kTile + kHalf, kBytes / 2,
                            &ring.full[s]);
  }
}

__device__ void scale_and_store(float* out, unsigned tiles, Ring ring, float (*scaled)[kTile],
                                Mutant mutant) {
  const unsigned thread = threadIdx.x - 32;
  const bool waits = thread == (mutant == Mutant::group_of_another_thread ? 1 : 0);
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const unsigned s = tile % kStages;
    const unsigned parity = tile / kStages % 2;
    if (mutant == Mutant::full_of_other_parity)
      ptx::mbarrier_wait_parity(&ring.full[s], parity ^ 1);
    else if (mutant != Mutant::full_not_awaited)
      ptx::mbarrier_wait_parity(&ring.full[s], parity);
    if (waits && mutant != Mutant::group_not_awaited)
      ptx::cp_async_bulk_wait_group_read<kStages - 1>();
    ptx::named_barrier_sync(kOfConsumers, kConsumers); // the stage of results is free
    if (mutant == Mutant::arrival_before_reading) ptx::mbarrier_arrive(&ring.empty[s]);
    const unsigned from = mutant == Mutant::other_stage_read ? (s + 1) % kStages : s;
    for (unsigned i = thread; i < kTile; i += kConsumers) scaled[s][i] = 2 * ring.stage[from][i];
    const bool skips = mutant == Mutant::arrival_missing && thread == 5;
    if (mutant != Mutant::arrival_before_reading && !skips) ptx::mbarrier_arrive(&ring.empty[s]);
    if (mutant != Mutant::stage_fence_missing && mutant != Mutant::stage_fence_behind_barrier)
      ptx::fence_proxy_async_shared();
    if (mutant != Mutant::store_before_barrier)
      ptx::named_barrier_sync(kOfConsumers, kConsumers); // the results are there
    if (mutant == Mutant::stage_fence_behind_barrier && thread != 0)
      ptx::fence_proxy_async_shared();
    if (thread == 0) {
      ptx::cp_async_bulk_store(out + tile * kTile, scaled[s], kBytes);
      if (mutant != Mutant::group_not_committed) ptx::cp_async_bulk_commit();
    }
  }
  if (waits) ptx::cp_async_bulk_wait_group<0>();
}

} // namespace

__global__ void scale_tiles(const float* in, float* out, unsigned tiles, Mutant mutant) {
  alignas(128) __shared__ float loaded[kStages][kTile];
  alignas(128) __shared__ float scaled[kStages][kTile];
  __shared__ std::uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], kConsumers);
    }
    if (mutant != Mutant::init_fence_missing) ptx::fence_mbarrier_init();
  }
  __syncthreads();
  const Ring ring{loaded, full, empty};
  if (threadIdx.x == 0) load_tiles(in, tiles, ring, mutant);
  if (threadIdx.x >= 32) scale_and_store(out, tiles, ring, scaled, mutant);
}

} // namespace kg::bulk
