// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant naive: one thread per element of C reads a row of op(A) and a column of op(B).
//
// Bytes: 8 per multiply-add, from the caches at best; flops: 2 m n k. naive is the baseline for the
// other variants, and the better choice if C is smaller than a tile. Expected on an H200: below 10
// % of the f32 peak.
#include "ops/gemm/finish.h"
#include "ops/gemm/variants.h"

#include "primitives/full_blocks.h"
#include "runtime/launch.h"

#include <limits>

namespace kg::gemm {

inline constexpr int kNaiveThreads = 256;

// Neighbouring threads take neighbouring columns: their reads of an untransposed B and their writes
// to C are contiguous.
template <class T>
__global__ void __launch_bounds__(kNaiveThreads, full_blocks()) naive(BasicProblem<T> p) {
  const std::int64_t element = std::int64_t{blockIdx.x} * kNaiveThreads + threadIdx.x;
  if (element >= p.batch * p.m * p.n) return;
  const std::int64_t product = element / p.n / p.m;
  const std::int64_t row = element / p.n % p.m;
  const std::int64_t column = element % p.n;
  const bool transpose_a = p.transpose_a == Transpose::yes;
  const bool transpose_b = p.transpose_b == Transpose::yes;
  const T* a = p.a + product * p.stride_a + (transpose_a ? row : row * p.lda);
  const T* b = p.b + product * p.stride_b + (transpose_b ? column * p.ldb : column);
  const std::int64_t step_a = transpose_a ? p.lda : 1;
  const std::int64_t step_b = transpose_b ? 1 : p.ldb;
  float sum = 0;
  for (std::int64_t k = 0; k < p.k; ++k)
    sum = fmaf(to_float(a[k * step_a]), to_float(b[k * step_b]), sum);
  finish<1>(p, product, row, column, Floats<1>{{sum}});
}

template <class T>
void run_naive(const BasicProblem<T>& p, Stream& stream) {
  constexpr std::int64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kMost = kMaxBlocks * kNaiveThreads;
  require(p.m <= kMost / p.n && p.batch <= kMost / (p.m * p.n),
          "gemm: more than 2^31 blocks of 256 elements of C; split the problem");
  const std::int64_t blocks = (p.batch * p.m * p.n + kNaiveThreads - 1) / kNaiveThreads;
  launch(naive<T>,
         {.grid = dim3(static_cast<unsigned>(blocks)),
          .block = dim3(kNaiveThreads),
          .stream = &stream},
         p);
}

template void run_naive(const BasicProblem<float>&, Stream&);
template void run_naive(const BasicProblem<f16>&, Stream&);
template void run_naive(const BasicProblem<bf16>&, Stream&);

} // namespace kg::gemm
