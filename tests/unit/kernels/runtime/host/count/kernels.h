// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose costs can be told on paper. In a library of their own, so that the same tests run
// on several compilations of them.
#pragma once

#include "runtime/device_code.h"

namespace kg::test {

struct Triple {
  float x, y, z;
};

// y[i] = x[i * stride]
__global__ void copy_strided(const float* x, float* y, int stride);
__global__ void copy_quads(const float4* x, float4* y);
__global__ void copy_triples(const Triple* x, Triple* y);
// y[i] = x[0], read as volatile
__global__ void broadcast(const volatile float* x, float* y);
// The first n threads copy, the others exit.
__global__ void copy_guarded(const float* x, float* y, int n);

// Rows of a 32 x 32 tile are written, its columns read.
__global__ void transpose_unpadded(const float* x, float* y);
__global__ void transpose_padded(const float* x, float* y);
// y[i] = element i * stride of a shared array.
__global__ void shared_doubles(double* y, int stride);
__global__ void shared_quads(float4* y, int stride);

// Classes that go from memory straight into a call, and from there straight into memory: sums of
// pairs; every value to the next lane; four floats to one access; a tenth more, by way of f32; and
// what is added atomically.
__global__ void add_pairs(const __half2* x, const __half2* y, __half2* sum);
__global__ void shuffle_halves(const f16* x, f16* y);
__global__ void make_quads(const float* x, float4* y);
__global__ void scale_halves(const bf16* x, bf16* y);
__global__ void add_halves(const f16* x, f16* sums);

// Even lanes copy a to y, odd ones b to z.
__global__ void branches(const float* a, const float* b, float* y, float* z);
// Lane i adds up the first i elements.
__global__ void triangle(const float* x, float* y);

// Every thread adds to bins[thread % count]; first to floats, then to integers in shared memory.
__global__ void histogram(float* bins, int* total, int count);

// Three barriers, five shuffles and one ballot.
__global__ void meetings(float* x);
// In round r of two, x[32 r] is read, in the first by the lower half-warp only. Each round ends in
// a barrier, or in __syncwarp.
__global__ void rounds(const float* x, float* y, bool barrier);
// Half-warps that shuffle among themselves, between accesses of all.
__global__ void half_warps(const float* x, float* y);
// The upper half-warp reads, and reads again after a shuffle of its own; the lower one only reads.
__global__ void one_half_shuffles(const float* x, float* y);

// What the neighbour left in shared memory, by five shuffles, behind a barrier of the cluster.
__global__ void meet_in_clusters(float* y);

// Two blocks are a cluster: of each word i * stride that a block has, lane 2 i takes the first
// one's, lane 2 i + 1 the second one's.
__global__ void read_in_cluster(float* y, int stride);

// 16 bytes per thread by asynchronous copies, rows of four such 64 or 80 bytes apart.
__global__ void copy_async(const float4* x, float4* y, int pitch);

// 16 bytes per thread by asynchronous copies, zeros for all but the first lanes.
__global__ void fill_async(const float4* x, float4* y, int lanes);

// Each warp reads four matrices, and the first two of them once more transposed, whose 32 and 16
// rows lie `pitch` 16-bit elements apart, and multiplies them.
__global__ void multiply_matrices(float* y, int pitch);

} // namespace kg::test
