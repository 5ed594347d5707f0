// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each x is read once and each y is written once. Bytes: 4 (terms + 1) n for f32, half of that for
// f16 and bf16; flops: 2 terms n. A library's product of weights and tensors moves the same bytes,
// but needs a separate launch for the softmax. Expected on an H200: the bandwidth of reading
// streams, 4.1 to 4.4 TB/s.
//
// Every block computes the weights for itself, thread k weight k: a loop over at most 64 cached
// numbers, once for all packs of the block. A thread issues four packs, from four terms, before it
// uses the first one: 64 KiB in flight per multiprocessor, of which 28 suffice (elementwise.cu).
// Why not a separate kernel for the weights: it would cost a launch and a round trip through
// memory, to save microseconds.
#include "ops/softmax_sum/softmax_sum.h"

#include "ops/softmax_sum/weights.h"
#include "primitives/map.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace kg::softmax_sum {

constexpr int kLoads = 4; // terms whose packs a thread loads before it uses the first one

template <class T>
struct Problem {
  const T* x;
  const T* alpha;
  T* y;
  int terms;
  std::int64_t n;
};

template <class T>
__device__ __forceinline__ T weighted(const Problem<T>& problem, const float* weight,
                                      std::int64_t i) {
  float sum = 0;
  for (int k = 0; k < problem.terms; ++k)
    sum = fmaf(weight[k], to_float(problem.x[k * problem.n + i]), sum);
  return from_float<T>(sum);
}

template <class T>
__global__ void __launch_bounds__(kMapThreads) naive(Problem<T> problem) {
  __shared__ float weight[kMaxTerms];
  make_weights(problem.alpha, problem.terms, weight);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < problem.n) problem.y[i] = weighted(problem, weight, i);
}

// The tensors may be aligned differently, depending on their lengths.
template <class T>
__device__ __forceinline__ Pack<T, kPackElements<T>> load(const T* x) {
  using Chunk = Pack<T, kPackElements<T>>;
  if (reinterpret_cast<std::uintptr_t>(x) % kPackBytes == 0)
    return *reinterpret_cast<const Chunk*>(x);
  Chunk pack;
  KG_UNROLL
  for (int e = 0; e < kPackElements<T>; ++e) pack.element[e] = x[e];
  return pack;
}

// The pack of y that begins at `index`.
template <class T>
__device__ inline void weighted_pack(const Problem<T>& problem, const float* weight,
                                     std::int64_t index) {
  constexpr int kCount = kPackElements<T>;
  float sum[kCount] = {};
  int k = 0;
  for (; k + kLoads <= problem.terms; k += kLoads) {
    Pack<T, kCount> x[kLoads];
    KG_UNROLL
    for (int l = 0; l < kLoads; ++l) x[l] = load(problem.x + (k + l) * problem.n + index);
    KG_UNROLL
    for (int l = 0; l < kLoads; ++l) {
      KG_UNROLL
      for (int e = 0; e < kCount; ++e)
        sum[e] = fmaf(weight[k + l], to_float(x[l].element[e]), sum[e]);
    }
  }
  for (; k < problem.terms; ++k) {
    const Pack<T, kCount> x = load(problem.x + k * problem.n + index);
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) sum[e] = fmaf(weight[k], to_float(x.element[e]), sum[e]);
  }
  Pack<T, kCount> y;
  KG_UNROLL
  for (int e = 0; e < kCount; ++e) y.element[e] = from_float<T>(sum[e]);
  store_wide(reinterpret_cast<Pack<T, kCount>*>(problem.y + index), y);
}

// head: elements before y's first pack boundary.
template <class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized(Problem<T> problem, int head) {
  __shared__ float weight[kMaxTerms];
  make_weights(problem.alpha, problem.terms, weight);
  constexpr int kCount = kPackElements<T>;
  const std::int64_t packs = (problem.n - head) / kCount;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kMapThreads;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kMapThreads + threadIdx.x;
  for (std::int64_t pack = first; pack < packs; pack += step)
    weighted_pack(problem, weight, head + pack * kCount);

  // Head and tail by the last block, which has the least work in the loop above.
  if (blockIdx.x + 1 == gridDim.x) {
    const std::int64_t body = packs * kCount;
    const int edge = static_cast<int>(problem.n - body);
    const int i = static_cast<int>(threadIdx.x);
    if (i < edge) {
      const std::int64_t index = i < head ? i : body + i;
      problem.y[index] = weighted(problem, weight, index);
    }
  }
}

namespace {

template <class T>
void require_arrays(const Problem<T>& problem) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  require_elements("softmax_sum: x", problem.x, problem.terms * problem.n);
  require_elements("softmax_sum: alpha", problem.alpha, problem.terms);
  require_elements("softmax_sum: y", problem.y, problem.n);
  require_apart("softmax_sum: x", problem.x, problem.terms * problem.n * kBytes, "y", problem.y,
                problem.n * kBytes);
  require_apart("softmax_sum: alpha", problem.alpha, problem.terms * kBytes, "y", problem.y,
                problem.n * kBytes);
}

} // namespace

template <class T>
Variant run(const T* x, const T* alpha, T* y, std::int64_t terms, std::int64_t n, Variant variant,
            Stream& stream) {
  require(terms >= 1 && terms <= kMaxTerms, "softmax_sum: terms is " + std::to_string(terms) +
                                                "; it must be 1 to " + std::to_string(kMaxTerms));
  require_extent("softmax_sum: n", n);
  variant = resolved(variant);
  if (n == 0) return variant;
  const Problem<T> problem{x, alpha, y, static_cast<int>(terms), n};
  require_arrays(problem);
  if (variant == Variant::naive) {
    const unsigned grid = grid_x(div_up(n, kMapThreads),
                                 "softmax_sum: " + std::to_string(n) + " elements, one per thread,",
                                 "use Variant::vectorized");
    launch(naive<T>, {.grid = grid, .block = kMapThreads, .stream = &stream}, problem);
  } else {
    const int head = static_cast<int>(std::min<std::int64_t>(elements_to_boundary(y), n));
    launch(vectorized<T>, {.grid = map_grid<T, 1>(n), .block = kMapThreads, .stream = &stream},
           problem, head);
  }
  return variant;
}

template Variant run(const float*, const float*, float*, std::int64_t, std::int64_t, Variant,
                     Stream&);
template Variant run(const f16*, const f16*, f16*, std::int64_t, std::int64_t, Variant, Stream&);
template Variant run(const bf16*, const bf16*, bf16*, std::int64_t, std::int64_t, Variant, Stream&);

Work work(Dtype dtype, std::int64_t terms, std::int64_t n) {
  const auto of_x = static_cast<double>(terms) * static_cast<double>(n);
  return {.bytes = (of_x + static_cast<double>(terms) + static_cast<double>(n)) *
                   static_cast<double>(size_of(dtype)),
          .written = static_cast<double>(n) * static_cast<double>(size_of(dtype)),
          .flops = 2 * of_x};
}

} // namespace kg::softmax_sum
