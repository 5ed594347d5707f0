// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/host/count/kernels.h"

#include "instructions/cluster.h"
#include "instructions/cp_async.h"
#include "instructions/ldmatrix.h"
#include "instructions/mma.h"

namespace kg::test {
namespace {

__device__ unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <int Pitch>
__device__ void transpose_tile(const float* x, float* y) {
  __shared__ float tile[32][Pitch];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

} // namespace

__global__ void copy_strided(const float* x, float* y, int stride) {
  const unsigned i = thread_number();
  y[i] = x[i * static_cast<unsigned>(stride)];
}

__global__ void copy_quads(const float4* x, float4* y) {
  const unsigned i = thread_number();
  y[i] = x[i];
}

__global__ void copy_triples(const Triple* x, Triple* y) {
  const unsigned i = thread_number();
  y[i] = x[i];
}

__global__ void broadcast(const volatile float* x, float* y) { y[thread_number()] = *x; }

__global__ void copy_guarded(const float* x, float* y, int n) {
  const unsigned i = thread_number();
  if (i >= static_cast<unsigned>(n)) return;
  y[i] = x[i];
}

__global__ void transpose_unpadded(const float* x, float* y) { transpose_tile<32>(x, y); }
__global__ void transpose_padded(const float* x, float* y) { transpose_tile<33>(x, y); }

__global__ void shared_doubles(double* y, int stride) {
  __shared__ double values[64];
  values[threadIdx.x] = threadIdx.x;
  values[threadIdx.x + 32] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = values[threadIdx.x * static_cast<unsigned>(stride)];
}

__global__ void shared_quads(float4* y, int stride) {
  __shared__ float4 values[64];
  values[threadIdx.x] = float4{1, 2, 3, 4};
  values[threadIdx.x + 32] = float4{1, 2, 3, 4};
  __syncthreads();
  y[threadIdx.x] = values[threadIdx.x * static_cast<unsigned>(stride)];
}

__global__ void add_pairs(const __half2* x, const __half2* y, __half2* sum) {
  sum[threadIdx.x] = __hadd2(x[threadIdx.x], y[threadIdx.x]);
}

__global__ void shuffle_halves(const f16* x, f16* y) {
  y[threadIdx.x] = __shfl_up_sync(0xffffffffu, x[threadIdx.x], 1);
}

__global__ void make_quads(const float* x, float4* y) {
  const float* const from = x + threadIdx.x;
  y[threadIdx.x] = make_float4(from[0], from[32], from[64], from[96]);
}

__global__ void scale_halves(const bf16* x, bf16* y) {
  y[threadIdx.x] = from_float<bf16>(1.1f * to_float(x[threadIdx.x]));
}

__global__ void add_halves(const f16* x, f16* sums) {
  atomicAdd(&sums[threadIdx.x], x[threadIdx.x]);
}

__global__ void branches(const float* a, const float* b, float* y, float* z) {
  const unsigned i = thread_number();
  if (i % 2 == 0)
    y[i] = a[i];
  else
    z[i] = b[i] + 1;
}

__global__ void triangle(const float* x, float* y) {
  float sum = 0;
  for (unsigned k = 0; k < threadIdx.x; ++k) sum += x[k];
  y[threadIdx.x] = sum;
}

__global__ void histogram(float* bins, int* total, int count) {
  __shared__ int local[32];
  local[threadIdx.x % 32] = 0;
  __syncthreads();
  const unsigned bin = threadIdx.x % static_cast<unsigned>(count);
  atomicAdd(&bins[bin], 1.0f);
  atomicAdd(&local[bin], 1);
  __syncthreads();
  if (threadIdx.x == 0) *total = local[0];
}

__global__ void meetings(float* x) {
  float value = x[thread_number()];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  __syncthreads();
  if (__ballot_sync(0xffffffffu, value > 0) == 0) value = 1;
  __syncthreads();
  x[thread_number()] = value;
  __syncthreads();
}

__global__ void rounds(const float* x, float* y, bool barrier) {
  float sum = 0;
  for (unsigned r = 0; r < 2; ++r) {
    if (threadIdx.x % 32 < 16 || r == 1) sum += x[32 * r];
    if (barrier)
      __syncthreads();
    else
      __syncwarp();
  }
  y[threadIdx.x] = sum;
}

__global__ void half_warps(const float* x, float* y) {
  const unsigned mask = threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
  float value = x[threadIdx.x];
  for (int step = 8; step > 0; step /= 2) {
    value += __shfl_xor_sync(mask, value, step, 16);
    y[threadIdx.x] = value;
  }
}

__global__ void one_half_shuffles(const float* x, float* y) {
  float value = x[threadIdx.x];
  if (threadIdx.x >= 16) {
    value += __shfl_xor_sync(0xffff0000u, value, 1);
    value += x[threadIdx.x + 32];
  }
  y[threadIdx.x] = value;
}

__global__ void meet_in_clusters(float* y) {
  float* const numbers = dynamic_shared<float>();
  numbers[threadIdx.x] = static_cast<float>(threadIdx.x);
  ptx::cluster_sync();
  float number = numbers[threadIdx.x];
  for (int round = 0; round < 5; ++round) number = __shfl_xor_sync(~0u, number, 1);
  y[thread_number()] = number;
}

__global__ void read_in_cluster(float* y, int stride) {
  float* const numbers = dynamic_shared<float>();
  const unsigned word = threadIdx.x / 2 * static_cast<unsigned>(stride);
  if (threadIdx.x % 2 == 0) numbers[word] = 1;
  ptx::cluster_sync();
  y[thread_number()] = ptx::load_from_block(numbers + word, threadIdx.x % 2);
  ptx::cluster_sync();
}

__global__ void copy_async(const float4* x, float4* y, int pitch) {
  const unsigned row = threadIdx.x / 4;
  const unsigned column = threadIdx.x % 4;
  float4* const to = dynamic_shared<float4>() + row * static_cast<unsigned>(pitch) + column;
  ptx::cp_async_cg(to, x + threadIdx.x);
  ptx::cp_async_commit();
  ptx::cp_async_wait_group<0>();
  __syncthreads();
  // Column by column: the eight lanes of a quarter-warp read eight rows.
  const float4* const from =
      dynamic_shared<float4>() + threadIdx.x % 8 * static_cast<unsigned>(pitch) + threadIdx.x / 8;
  y[threadIdx.x] = *from;
}

__global__ void fill_async(const float4* x, float4* y, int lanes) {
  float4* const to = dynamic_shared<float4>() + threadIdx.x;
  ptx::cp_async_cg(to, x + threadIdx.x, static_cast<int>(threadIdx.x) < lanes ? 16 : 0);
  ptx::cp_async_commit();
  ptx::cp_async_wait_group<0>();
  y[threadIdx.x] = *to;
}

__global__ void multiply_matrices(float* y, int pitch) {
  const bf16* const row = dynamic_shared<bf16>() + threadIdx.x % 32 * static_cast<unsigned>(pitch);
  unsigned a[4], b[2];
  ptx::ldmatrix(a, row);
  ptx::ldmatrix_trans(b, row);
  float sum[4] = {};
  ptx::mma_m16n8k16<bf16>(sum, a, b);
  y[threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

} // namespace kg::test
