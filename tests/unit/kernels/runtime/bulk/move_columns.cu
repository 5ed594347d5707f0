// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/bulk/move_columns.h"

#include "instructions/cp_async_bulk.h"
#include "instructions/cp_async_bulk_im2col.h"
#include "instructions/fence_proxy_async.h"
#include "instructions/mbarrier.h"

namespace kg::bulk {
namespace {

// The first channel, and the image's pixel that the first tap of output pixel `index` reads: W, H,
// D, N.
struct First {
  int at[5];
};
__device__ First first_of(const Convolution& of, int index) {
  First first{};
  first.at[0] = of.first_channel;
  for (int axis = 0; axis < of.rank - 2; ++axis) {
    first.at[axis + 1] = index % of.output[axis] * of.stride[axis] - of.padding[axis];
    index /= of.output[axis];
  }
  first.at[of.rank - 1] = index;
  return first;
}

__device__ void load(unsigned short* to, const TensorMap& map, int rank, const First& first,
                     const std::uint16_t (&by)[3], std::uint64_t* barrier) {
  const int(&at)[5] = first.at;
  if (rank == 3) ptx::cp_async_bulk_im2col_load(to, map, {at[0], at[1], at[2]}, {by[0]}, barrier);
  if (rank == 4)
    ptx::cp_async_bulk_im2col_load(to, map, {at[0], at[1], at[2], at[3]}, {by[0], by[1]}, barrier);
  if (rank == 5) ptx::cp_async_bulk_im2col_load(to, map, at, by, barrier);
}

} // namespace

__global__ void load_columns(const __grid_constant__ TensorMap map, Convolution of, unsigned bytes,
                             unsigned short* out, ColumnMutant mutant) {
  __shared__ __align__(1024) unsigned short column[kMostColumnElements];
  __shared__ std::uint64_t full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init();
  }
  for (unsigned i = threadIdx.x; i < kMostColumnElements; i += kColumnThreads) column[i] = 0xABAB;
  ptx::fence_proxy_async_shared();
  __syncthreads();
  const int taps = of.filter[0] * of.filter[1] * of.filter[2];
  for (int tap = 0; tap < taps; ++tap) {
    if (threadIdx.x == 0) {
      First first = first_of(of, static_cast<int>(blockIdx.x) * of.pixels);
      if (mutant == ColumnMutant::begins_outside) first.at[1] = -of.padding[0] - 1;
      int s[3] = {tap % of.filter[0], tap / of.filter[0] % of.filter[1],
                  tap / (of.filter[0] * of.filter[1])};
      std::uint16_t by[3];
      for (int i = 0; i < 3; ++i) by[i] = static_cast<std::uint16_t>(s[i] * of.dilation[i]);
      if (mutant == ColumnMutant::offset_too_large) by[0] = 256;
      ptx::mbarrier_arrive_expect_tx(&full,
                                     mutant == ColumnMutant::bytes_too_few ? bytes - 16 : bytes);
      load(column, map, of.rank, first, by, &full);
    }
    if (mutant != ColumnMutant::phase_not_awaited)
      ptx::mbarrier_wait_parity(&full, static_cast<unsigned>(tap) & 1);
    unsigned short* const to =
        out + (blockIdx.x * static_cast<unsigned>(taps) + static_cast<unsigned>(tap)) *
                  kMostColumnElements;
    for (unsigned i = threadIdx.x; i < kMostColumnElements; i += kColumnThreads) to[i] = column[i];
    __syncthreads();
  }
}

__global__ void store_columns(const __grid_constant__ TensorMap map, Convolution of,
                              ColumnMutant mutant) {
  __shared__ __align__(1024) unsigned short column[kMostColumnElements];
  for (unsigned i = threadIdx.x; i < kMostColumnElements; i += kColumnThreads)
    column[i] = static_cast<unsigned short>(100 * blockIdx.x + i + 1);
  if (mutant != ColumnMutant::fence_missing) ptx::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    const First first = first_of(of, static_cast<int>(blockIdx.x) * of.pixels);
    const int(&at)[5] = first.at;
    if (of.rank == 3) ptx::cp_async_bulk_im2col_store(map, {at[0], at[1], at[2]}, column);
    if (of.rank == 4) ptx::cp_async_bulk_im2col_store(map, {at[0], at[1], at[2], at[3]}, column);
    if (of.rank == 5) ptx::cp_async_bulk_im2col_store(map, at, column);
    ptx::cp_async_bulk_commit();
    ptx::cp_async_bulk_wait_group<0>();
  }
}

} // namespace kg::bulk
