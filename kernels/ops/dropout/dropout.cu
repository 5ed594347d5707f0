// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element: 8 n bytes in f32, 4 n in 16 bits; one product per element.
// Four words take ten rounds of two 32 x 32 bit products and two three-way xors; with the use of
// the words, some 30 instructions per element of 16 bits. An H200 issues those for 1.1 x 10^12
// elements per second, 4.5 TB/s, so memory limits both types. Expected there: 92 % of copy
// bandwidth. The host provides the round keys, which are the same for all threads. Computed in the
// kernel, they were a fifth of the instructions that issue at half rate.
//
// A thread has two packs of x in flight while it generates their words: 64 KiB per multiprocessor.
//
// Why not a bit mask, written forward and read backward: it occupies memory for a whole step, adds
// n / 8 bytes of traffic in each direction, and words would still be generated once. Why not a
// state per thread as curand_init makes it: the counter is the state.
#include "ops/dropout/dropout.h"

#include "primitives/pack.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace kg::dropout {

constexpr int kThreads = 256;
constexpr int kPacks = 2;              // loaded per thread before the first use
inline constexpr int kBlocksPerSm = 5; // else keys fill the registers; 6 leave too few for f32

template <class T>
struct Arguments {
  Problem<T> problem;
  unsigned threshold; // smallest word whose element is kept
  float scale;
  PhiloxKeys keys;

  __device__ __forceinline__ T kept_or_zero(T x, unsigned word) const {
    return from_float<T>(word >= threshold ? to_float(x) * scale : 0.0F);
  }
  __device__ __forceinline__ void element(std::int64_t i) const {
    problem.y[i] = kept_or_zero(problem.x[i], random_word(problem.stream, i));
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) naive(Arguments<T> a) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < a.problem.n) a.element(i);
}

// Drops elements of x, pack number `pack`, in place; the stream begins at a block.
template <class T>
__device__ __forceinline__ void drop(const Arguments<T>& a, std::int64_t pack,
                                     Pack<T, kPackElements<T>>& x) {
  constexpr int kBlocks = kPackElements<T> / kPhiloxWords;
  KG_UNROLL
  for (int b = 0; b < kBlocks; ++b) {
    const uint4 four =
        random_block(a.problem.stream, a.keys, static_cast<std::uint64_t>(pack * kBlocks + b));
    const unsigned words[kPhiloxWords] = {four.x, four.y, four.z, four.w};
    KG_UNROLL
    for (int w = 0; w < kPhiloxWords; ++w) {
      T& element = x.element[b * kPhiloxWords + w];
      element = a.kept_or_zero(element, words[w]);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) vectorized(Arguments<T> a) {
  using Elements = Pack<T, kPackElements<T>>;
  const std::int64_t packs = a.problem.n / kPackElements<T>;
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * (kThreads * kPacks) + threadIdx.x;
  const auto* const x = reinterpret_cast<const Elements*>(a.problem.x);
  auto* const y = reinterpret_cast<Elements*>(a.problem.y);
  Elements values[kPacks] = {};
  KG_UNROLL
  for (int l = 0; l < kPacks; ++l)
    if (first + l * kThreads < packs) values[l] = x[first + l * kThreads];
  KG_UNROLL
  for (int l = 0; l < kPacks; ++l) {
    const std::int64_t pack = first + l * kThreads;
    if (pack >= packs) break;
    drop(a, pack, values[l]);
    store_wide(y + pack, values[l]);
  }
  // The last block handles the elements after the last pack.
  const std::int64_t tail = packs * kPackElements<T> + threadIdx.x;
  if (blockIdx.x + 1 == gridDim.x && tail < a.problem.n) a.element(tail);
}

namespace {

template <class T>
void launch_variant(const Arguments<T>& a, Variant variant, Stream& stream) {
  const Problem<T>& p = a.problem;
  if (variant == Variant::vectorized && is_aligned(p.x) && is_aligned(p.y) &&
      p.stream.offset % kPhiloxWords == 0) {
    constexpr std::int64_t kTile = kThreads * kPacks * kPackElements<T>;
    launch(vectorized<T>,
           {.grid = grid_x(div_up(p.n, kTile), "dropout: the elements", "split them"),
            .block = kThreads,
            .stream = &stream},
           a);
  } else {
    launch(naive<T>,
           {.grid = grid_x(div_up(p.n, kThreads),
                           "dropout: " + std::to_string(p.n) + " elements, one per thread,",
                           "use Variant::vectorized and aligned arrays"),
            .block = kThreads,
            .stream = &stream},
           a);
  }
}

template <class T>
void require_valid(const Problem<T>& p) {
  require_extent("dropout: n", p.n);
  require(p.p >= 0 && p.p < 1,
          "dropout: p is " + std::to_string(p.p) + "; it must be 0 or more, and below 1");
  require_elements("dropout: x", p.x, p.n);
  require_elements("dropout: y", p.y, p.n);
  if (p.n > 0)
    require_same_or_apart("dropout: x", p.x, "y", p.y, p.n * static_cast<std::int64_t>(sizeof(T)));
}

} // namespace

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  variant = resolved(variant);
  if (p.n == 0) return variant;
  // The largest p below 1 gives 2^32 - 2^8.
  const double probability = p.p;
  const auto threshold = static_cast<unsigned>(std::llround(probability * 0x1p32));
  launch_variant(Arguments<T>{p, threshold, static_cast<float>(1 / (1 - probability)),
                              PhiloxKeys(philox_key(p.stream))},
                 variant, stream);
  return variant;
}

template <class T>
Work work(const Problem<T>& p) {
  const auto count = static_cast<double>(p.n);
  return {.bytes = 2 * count * sizeof(T), .written = count * sizeof(T), .flops = count};
}

template Variant run(const Problem<float>&, Variant, Stream&);
template Variant run(const Problem<f16>&, Variant, Stream&);
template Variant run(const Problem<bf16>&, Variant, Stream&);
template Work work(const Problem<float>&);
template Work work(const Problem<f16>&);
template Work work(const Problem<bf16>&);

} // namespace kg::dropout
