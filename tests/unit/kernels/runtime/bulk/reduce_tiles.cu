// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/bulk/reduce_tiles.h"

#include "instructions/cp_reduce_async_bulk.h"
#include "instructions/cp_reduce_async_bulk_tensor.h"
#include "instructions/fence_proxy_async.h"

namespace kg::bulk {
namespace {

template <ReduceOp op, class T>
__device__ void reduce_by(T* to, const T* from) {
  if constexpr (ptx::kReducesInBulk<op, T>)
    ptx::cp_reduce_async_bulk<op>(to, from, kReduced * sizeof(T));
}

template <ReduceOp op>
__device__ void reduce_box_by(const TensorMap& map, int rank, const Origin& first,
                              const void* from) {
  const int(&at)[5] = first.at;
  if (rank == 1) ptx::cp_reduce_async_bulk_tensor<op>(map, {at[0]}, from);
  if (rank == 2) ptx::cp_reduce_async_bulk_tensor<op>(map, {at[0], at[1]}, from);
  if (rank == 3) ptx::cp_reduce_async_bulk_tensor<op>(map, {at[0], at[1], at[2]}, from);
  if (rank == 4) ptx::cp_reduce_async_bulk_tensor<op>(map, {at[0], at[1], at[2], at[3]}, from);
  if (rank == 5)
    ptx::cp_reduce_async_bulk_tensor<op>(map, {at[0], at[1], at[2], at[3], at[4]}, from);
}

} // namespace

template <class T>
__global__ void reduce_elements(ReduceOp op, T* to, const T* from) {
  __shared__ __align__(128) T tile[kReduced];
  tile[threadIdx.x] = from[threadIdx.x];
  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x != 0) return;
  switch (op) {
  case ReduceOp::add: reduce_by<ReduceOp::add>(to, tile); break;
  case ReduceOp::min: reduce_by<ReduceOp::min>(to, tile); break;
  case ReduceOp::max: reduce_by<ReduceOp::max>(to, tile); break;
  case ReduceOp::inc: reduce_by<ReduceOp::inc>(to, tile); break;
  case ReduceOp::dec: reduce_by<ReduceOp::dec>(to, tile); break;
  case ReduceOp::bit_and: reduce_by<ReduceOp::bit_and>(to, tile); break;
  case ReduceOp::bit_or: reduce_by<ReduceOp::bit_or>(to, tile); break;
  case ReduceOp::bit_xor: reduce_by<ReduceOp::bit_xor>(to, tile); break;
  }
  ptx::cp_async_bulk_commit();
  ptx::cp_async_bulk_wait_group<0>();
}
template __global__ void reduce_elements(ReduceOp, std::uint32_t*, const std::uint32_t*);
template __global__ void reduce_elements(ReduceOp, std::int32_t*, const std::int32_t*);
template __global__ void reduce_elements(ReduceOp, std::uint64_t*, const std::uint64_t*);
template __global__ void reduce_elements(ReduceOp, std::int64_t*, const std::int64_t*);
template __global__ void reduce_elements(ReduceOp, f16*, const f16*);
template __global__ void reduce_elements(ReduceOp, bf16*, const bf16*);
template __global__ void reduce_elements(ReduceOp, float*, const float*);
template __global__ void reduce_elements(ReduceOp, double*, const double*);

__global__ void reduce_tiles(float* sums, float* seen, ReduceMutant mutant) {
  __shared__ __align__(128) float tile[kReduced];
  const unsigned i = threadIdx.x;
  tile[i] = static_cast<float>(i + 1);
  if (mutant != ReduceMutant::fence_missing) ptx::fence_proxy_async_shared();
  __syncthreads();
  if (mutant == ReduceMutant::plain_write_beside && i == 40) sums[i] = 0;
  if (mutant == ReduceMutant::atomics_beside) atomicAdd(&sums[i], 1.f);
  if (mutant == ReduceMutant::one_of_two_not_awaited) {
    if (i == 0) {
      ptx::cp_reduce_async_bulk<ReduceOp::add>(sums, tile, sizeof tile);
      ptx::cp_async_bulk_commit();
    }
    __syncthreads();
    if (i == 32) {
      ptx::cp_reduce_async_bulk<ReduceOp::add>(sums, tile, sizeof tile);
      ptx::cp_async_bulk_commit();
      ptx::cp_async_bulk_wait_group<0>();
    }
    if (i == 0) ptx::cp_async_bulk_wait_group_read<0>();
  } else if (i == 0) {
    for (int round = 0; round < 2; ++round) {
      ptx::cp_reduce_async_bulk<ReduceOp::add>(sums, tile, sizeof tile);
      ptx::cp_async_bulk_commit();
    }
    if (mutant != ReduceMutant::tile_overwritten) ptx::cp_async_bulk_wait_group_read<0>();
    tile[0] = 0;
    if (mutant != ReduceMutant::sum_not_awaited) ptx::cp_async_bulk_wait_group<0>();
  }
  __syncthreads();
  if (seen) seen[i] = sums[i];
}

__global__ void reduce_box(const __grid_constant__ TensorMap map, int rank, Origin first,
                           ReduceOp op) {
  __shared__ __align__(1024) f16 box[kMostBoxElements];
  for (unsigned i = threadIdx.x; i < kMostBoxElements; i += kBoxThreads)
    box[i] = __float2half_rn(static_cast<float>(i % 512));
  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (op == ReduceOp::add) reduce_box_by<ReduceOp::add>(map, rank, first, box);
    if (op == ReduceOp::max) reduce_box_by<ReduceOp::max>(map, rank, first, box);
    if (op == ReduceOp::bit_or) reduce_box_by<ReduceOp::bit_or>(map, rank, first, box);
    ptx::cp_async_bulk_commit();
    ptx::cp_async_bulk_wait_group<0>();
  }
}

} // namespace kg::bulk
