// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/bulk/move_boxes.h"

#include "instructions/cp_async_bulk.h"
#include "instructions/cp_async_bulk_tensor.h"
#include "instructions/fence_proxy_async.h"
#include "instructions/mbarrier.h"

namespace kg::bulk {
namespace {

// Calls move(coordinates) with as many of them as the rank says.
template <class Move>
__device__ void with_rank(int rank, const Origin& first, const Move& move) {
  const int(&at)[5] = first.at;
  if (rank == 1) move({at[0]});
  if (rank == 2) move({at[0], at[1]});
  if (rank == 3) move({at[0], at[1], at[2]});
  if (rank == 4) move({at[0], at[1], at[2], at[3]});
  if (rank == 5) move({at[0], at[1], at[2], at[3], at[4]});
}

struct Load {
  const TensorMap& map;
  unsigned short* to;
  std::uint64_t* barrier;
  template <int Rank>
  __device__ void operator()(const int (&first)[Rank]) const {
    ptx::cp_async_bulk_tensor_load(to, map, first, barrier);
  }
};

struct Store {
  const TensorMap& map;
  const unsigned short* from;
  template <int Rank>
  __device__ void operator()(const int (&first)[Rank]) const {
    ptx::cp_async_bulk_tensor_store(map, first, from);
  }
};

} // namespace

__global__ void load_box(const __grid_constant__ TensorMap map, int rank, Origin first,
                         unsigned bytes, unsigned short* out, BoxMutant mutant) {
  __shared__ __align__(1024) unsigned short box[kMostBoxElements + 8];
  __shared__ std::uint64_t full;
  if (threadIdx.x == 0) {
    ptx::prefetch_tensormap(map);
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init();
  }
  for (unsigned i = threadIdx.x; i < kMostBoxElements; i += kBoxThreads) box[i] = 0xABAB;
  ptx::fence_proxy_async_shared();
  __syncthreads();
  for (unsigned round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) {
      unsigned expected = bytes;
      if (mutant == BoxMutant::bytes_too_few) expected -= 16;
      if (mutant == BoxMutant::bytes_too_many) expected += 16;
      ptx::mbarrier_arrive_expect_tx(&full, expected);
      const unsigned off = mutant == BoxMutant::shared_misaligned ? 8 : 0;
      const int named = mutant == BoxMutant::rank_of_another ? rank % 5 + 1 : rank;
      with_rank(named, first, Load{map, box + off, &full});
      if (mutant == BoxMutant::bytes_of_one_of_two)
        with_rank(rank, first, Load{map, box + kMostBoxElements / 2, &full});
    }
    if (mutant != BoxMutant::phase_not_awaited) ptx::mbarrier_wait_parity(&full, round);
    for (unsigned i = threadIdx.x; i < kMostBoxElements; i += kBoxThreads) out[i] = box[i];
    if (mutant != BoxMutant::stage_reused) __syncthreads();
  }
}

__global__ void store_box(const __grid_constant__ TensorMap map, int rank, Origin first,
                          BoxMutant mutant) {
  __shared__ __align__(1024) unsigned short box[kMostBoxElements];
  for (unsigned i = threadIdx.x; i < kMostBoxElements; i += kBoxThreads)
    box[i] = static_cast<unsigned short>(i + 1);
  if (mutant != BoxMutant::fence_missing) ptx::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    with_rank(rank, first, Store{map, box});
    ptx::cp_async_bulk_commit();
    if (mutant != BoxMutant::stage_overwritten) ptx::cp_async_bulk_wait_group<0>();
  }
  if (mutant == BoxMutant::stage_overwritten) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < kMostBoxElements; i += kBoxThreads) box[i] = 0;
    __syncthreads();
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group<0>();
  }
}

} // namespace kg::bulk
