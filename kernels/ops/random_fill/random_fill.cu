// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One write per element, 4 n bytes in f32 and 2 n in 16 bits. Arithmetic is the limit: a word takes
// some 15 instructions (dropout.cu), a normal number 30 more; two normal numbers share a logarithm
// and its root. Expected on an H200, relative to the bandwidth of a fill: 90 % for uniform and
// bernoulli in f32, 60 % in 16 bits; 45 % and 25 % for normal.
//
// Why not __sincosf, which cuRAND uses: its error of 2^-21 is absolute, so small results have few
// correct digits. sinpif and cospif need no product with 2 pi and no argument reduction, which
// would use local memory. Why not the inverse of the normal distribution, one word per number: the
// stream would not be cuRAND's.
#include "ops/random_fill/random_fill.h"

#include "primitives/pack.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace kg::random_fill {

constexpr int kThreads = 256;

// Maps a word to (0, 1].
__device__ __forceinline__ float unit(unsigned word) {
  return fmaf(static_cast<float>(word), 0x1p-32F, 0x1p-33F);
}

template <class T>
struct Arguments {
  Problem<T> problem;
  std::uint64_t threshold; // smaller words give 1

  // The two elements of a pair.
  template <Kind kind>
  __device__ __forceinline__ void draw(unsigned first, unsigned second, float (&value)[2]) const {
    if constexpr (kind == Kind::uniform) {
      const float range = problem.high - problem.low;
      value[0] = fmaf(unit(first), range, problem.low);
      value[1] = fmaf(unit(second), range, problem.low);
    } else if constexpr (kind == Kind::normal) {
      const float length = sqrtf(-2.0F * logf(unit(first))), turns = 2.0F * unit(second);
      value[0] = fmaf(length * sinpif(turns), problem.deviation, problem.mean);
      value[1] = fmaf(length * cospif(turns), problem.deviation, problem.mean);
    } else {
      value[0] = first < threshold ? 1.0F : 0.0F;
      value[1] = second < threshold ? 1.0F : 0.0F;
    }
  }

  template <Kind kind>
  __device__ __forceinline__ void element(std::int64_t i) const {
    const std::int64_t pair = i / 2 * 2;
    float value[2];
    draw<kind>(random_word(problem.stream, pair), random_word(problem.stream, pair + 1), value);
    problem.y[i] = from_float<T>(i == pair ? value[0] : value[1]);
  }
};

template <Kind kind, class T>
__global__ void __launch_bounds__(kThreads) naive(Arguments<T> a) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < a.problem.n) a.template element<kind>(i);
}

// Precondition: the stream begins at a block.
template <Kind kind, class T>
__global__ void __launch_bounds__(kThreads) vectorized(Arguments<T> a) {
  constexpr int kCount = kPackElements<T>, kBlocks = kCount / kPhiloxWords;
  const std::int64_t packs = a.problem.n / kCount;
  const std::int64_t pack = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (pack < packs) {
    Pack<T, kCount> values;
    KG_UNROLL
    for (int b = 0; b < kBlocks; ++b) {
      const uint4 words =
          random_block(a.problem.stream, static_cast<std::uint64_t>(pack * kBlocks + b));
      float first[2], second[2];
      a.template draw<kind>(words.x, words.y, first);
      a.template draw<kind>(words.z, words.w, second);
      KG_UNROLL
      for (int e = 0; e < 2; ++e) {
        values.element[b * kPhiloxWords + e] = from_float<T>(first[e]);
        values.element[b * kPhiloxWords + 2 + e] = from_float<T>(second[e]);
      }
    }
    store_wide(reinterpret_cast<Pack<T, kCount>*>(a.problem.y) + pack, values);
  }
  // The last block handles the elements after the last pack.
  const std::int64_t tail = packs * kCount + threadIdx.x;
  if (blockIdx.x + 1 == gridDim.x && tail < a.problem.n) a.template element<kind>(tail);
}

namespace {

template <Kind kind, class T>
void launch_kind(const Arguments<T>& a, Variant variant, Stream& stream) {
  const Problem<T>& p = a.problem;
  const bool packs =
      variant == Variant::vectorized && is_aligned(p.y) && p.stream.offset % kPhiloxWords == 0;
  const std::int64_t per_thread = packs ? kPackElements<T> : 1;
  launch(packs ? vectorized<kind, T> : naive<kind, T>,
         {.grid = grid_x(div_up(p.n, kThreads * per_thread), "random_fill: the elements",
                         "fill them in parts, with offsets that go on"),
          .block = kThreads,
          .stream = &stream},
         a);
}

template <class T>
void require_valid(const Problem<T>& p) {
  require_extent("random_fill: n", p.n);
  require_elements("random_fill: y", p.y, p.n);
  require(p.kind != Kind::normal || p.deviation >= 0,
          "random_fill: deviation is " + std::to_string(p.deviation) + "; it must be 0 or more");
  require(p.kind != Kind::bernoulli || (p.p >= 0 && p.p <= 1),
          "random_fill: p is " + std::to_string(p.p) + "; it must be a probability");
}

} // namespace

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  variant = resolved(variant);
  if (p.n == 0) return variant;
  Arguments<T> a{p, 0};
  switch (p.kind) {
  case Kind::uniform: launch_kind<Kind::uniform>(a, variant, stream); break;
  case Kind::normal: launch_kind<Kind::normal>(a, variant, stream); break;
  case Kind::bernoulli:
    a.threshold = static_cast<std::uint64_t>(std::llround(static_cast<double>(p.p) * 0x1p32));
    launch_kind<Kind::bernoulli>(a, variant, stream);
    break;
  }
  return variant;
}

template <class T>
Work work(const Problem<T>& p) {
  // Normal, per pair: a logarithm, a root and a product. Per number: a sine or cosine, a product
  // with the root, and a product and a sum for deviation and mean.
  const double operations = p.kind == Kind::uniform ? 2 : p.kind == Kind::normal ? 5.5 : 0;
  const auto count = static_cast<double>(p.n);
  return {.bytes = count * sizeof(T), .written = count * sizeof(T), .flops = operations * count};
}

template Variant run(const Problem<float>&, Variant, Stream&);
template Variant run(const Problem<f16>&, Variant, Stream&);
template Variant run(const Problem<bf16>&, Variant, Stream&);
template Work work(const Problem<float>&);
template Work work(const Problem<f16>&);
template Work work(const Problem<bf16>&);

} // namespace kg::random_fill
