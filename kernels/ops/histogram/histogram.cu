// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: size_of(T) per element, 4 per bin. Expected on an H200: 90 % of memory bandwidth from 10^8
// bytes on, if elements are spread over the bins.
//
// A multiprocessor adds to one word per shared-memory bank and cycle. If all lanes of a warp add to
// the same address, 32 additions are serialized: data that hardly vary are then limited to 1/32 of
// that rate. Adjacent elements of a thread's pack in the same bin are therefore added together.
// Constant data then cost a quarter of that for f32, a sixteenth for bytes.
//
// Why not one histogram per warp: it takes shared memory from the blocks, 4 KiB for 1024 bins, to
// spread additions that rarely collide. Why not sort: it moves every element several times.
#include "ops/histogram/histogram.h"

#include "primitives/divisor.h"
#include "primitives/look_back.h"
#include "primitives/pack_rows.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

namespace kg::histogram {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;
constexpr int kItems = 16; // per thread and round

// The bin of an element; -1: none.
template <class T>
struct Bins {
  int count = 0;
  std::int64_t lower = 0, upper = 0;
  Divisor width;

  __device__ int of(T element) const {
    const auto value = static_cast<std::int64_t>(element);
    if (value < lower || value >= upper) return -1;
    return static_cast<int>(width.quotient(value - lower));
  }
};
// Bytes: with m = floor(2^16 / width) + 1, floor(d m / 2^16) is d / width for all d below 2^8 and
// widths of at most 2^8, as the tests verify.
template <>
struct Bins<std::int8_t> {
  int count = 0, lower = 0, upper = 0, multiplier = 0;

  __device__ int of(std::int8_t element) const {
    if (element < lower || element >= upper) return -1;
    return (element - lower) * multiplier >> 16;
  }
};
template <>
struct Bins<float> {
  int count = 0;
  float lower = 0, upper = 0, scale = 0;

  __device__ int of(float element) const {
    if (!(element >= lower && element < upper)) return -1;
    const auto bin = static_cast<int>((element - lower) * scale);
    return bin < count ? bin : count - 1;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    naive(const T* x, std::int32_t* counts, std::int64_t n, Bins<T> bins) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const int bin = bins.of(x[i]);
  if (bin >= 0) atomicAdd(counts + bin, 1);
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    privatized(const T* x, std::int32_t* counts, std::int64_t n, bool aligned, Bins<T> bins) {
  constexpr int kCount = kPackElements<T>;
  constexpr int kRows = kItems / kCount; // per warp
  constexpr int kOfWarp = kItems * kLanes;
  __shared__ std::int32_t own[kSharedBins];
  for (int bin = static_cast<int>(threadIdx.x); bin < bins.count; bin += kThreads) own[bin] = 0;
  __syncthreads();

  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads / kLanes * kOfWarp;
  const auto warp =
      static_cast<std::int64_t>(blockIdx.x) * (kThreads / kLanes) + threadIdx.x / kLanes;
  for (std::int64_t of_warp = warp * kOfWarp; of_warp < n; of_warp += step) {
    const std::int64_t first = of_warp + static_cast<int>(threadIdx.x % kLanes) * kCount;
    const std::int64_t left = n - first;
    Pack<T, kCount> element[kRows];
    load_rows(x + first, left, aligned, T{0}, element);
    KG_UNROLL
    for (int r = 0; r < kRows; ++r) {
      int run = -1, length = 0; // of adjacent elements in the same bin
      KG_UNROLL
      for (int e = 0; e < kCount; ++e) {
        const int bin = r * kRowStep<kCount> + e < left ? bins.of(element[r].element[e]) : -1;
        if (bin != run) {
          if (run >= 0) atomicAdd(own + run, length);
          run = bin;
          length = 0;
        }
        ++length;
      }
      if (run >= 0) atomicAdd(own + run, length);
    }
  }
  __syncthreads();
  for (int bin = static_cast<int>(threadIdx.x); bin < bins.count; bin += kThreads) {
    const std::int32_t count = own[bin];
    if (count != 0) atomicAdd(counts + bin, count);
  }
}

namespace {

template <class T>
Bins<T> bins_of(const Problem& problem) {
  Bins<T> bins;
  bins.count = static_cast<int>(problem.bins);
  if constexpr (std::is_same_v<T, float>) {
    bins.lower = static_cast<float>(problem.lower);
    bins.upper = static_cast<float>(problem.upper);
    bins.scale = static_cast<float>(problem.bins) / (bins.upper - bins.lower);
    require(static_cast<double>(bins.lower) == problem.lower &&
                static_cast<double>(bins.upper) == problem.upper && std::isfinite(bins.scale) &&
                bins.scale > 0,
            "histogram: the bounds are " + std::to_string(problem.lower) + " and " +
                std::to_string(problem.upper) + "; they must be numbers of f32 not too far apart");
  } else {
    constexpr double kLeast = std::numeric_limits<T>::min();
    constexpr double kBeyond = std::numeric_limits<T>::max() + 1.0;
    const double width = (problem.upper - problem.lower) / static_cast<double>(problem.bins);
    require(problem.lower >= kLeast && problem.upper <= kBeyond && width == std::floor(width) &&
                problem.lower == std::floor(problem.lower),
            "histogram: " + std::to_string(problem.bins) + " bins from " +
                std::to_string(problem.lower) + " to " + std::to_string(problem.upper) +
                "; they must have a whole number of integers each");
    bins.lower = static_cast<decltype(bins.lower)>(problem.lower);
    bins.upper = static_cast<decltype(bins.upper)>(problem.upper);
    if constexpr (sizeof(T) == 1)
      bins.multiplier = (1 << 16) / static_cast<int>(width) + 1;
    else
      bins.width = Divisor(static_cast<std::int64_t>(width));
  }
  return bins;
}

} // namespace

template <class T>
Variant run(const Problem& problem, const T* x, std::int32_t* counts, Variant variant,
            Stream& stream) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto [n, bins, lower, upper] = problem;
  require_extent("histogram: n", n);
  require_extent("histogram: bins", bins);
  require(n <= kMost && bins <= kMost, "histogram: n or bins is beyond 2^31 - 1; count parts");
  require(lower < upper, "histogram: upper is " + std::to_string(upper) +
                             "; it must be above lower, " + std::to_string(lower));
  variant = resolved(variant, bins);
  require(supports(variant, bins), "histogram: privatized has at most " +
                                       std::to_string(kSharedBins) + " bins, not " +
                                       std::to_string(bins) + "; use naive");
  if (bins == 0) return variant;
  require_elements("histogram: x", x, n);
  require_elements("histogram: counts", counts, bins);
  if (n > 0)
    require_apart("histogram: x", x, n * static_cast<std::int64_t>(sizeof(T)), "counts", counts,
                  bins * static_cast<std::int64_t>(sizeof *counts));
  const Bins<T> each = bins_of<T>(problem);
  launch(clear_words<std::int32_t>,
         {.grid = static_cast<unsigned>(div_up(bins, kClearThreads)),
          .block = kClearThreads,
          .stream = &stream},
         counts, bins);
  if (n == 0) return variant;
  if (variant == Variant::naive) {
    launch(
        naive<T>,
        {.grid = static_cast<unsigned>(div_up(n, kThreads)), .block = kThreads, .stream = &stream},
        x, counts, n, each);
    return variant;
  }
  const std::int64_t tiles = div_up(n, kThreads * kItems);
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kBlocksPerSm;
  launch(privatized<T>,
         {.grid = static_cast<unsigned>(std::min(tiles, resident)),
          .block = kThreads,
          .stream = &stream},
         x, counts, n, is_aligned(x), each);
  return variant;
}

template <class T>
Work work(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  const double written = sizeof(std::int32_t) * static_cast<double>(problem.bins);
  return {.bytes = sizeof(T) * n + written, .written = written, .flops = n};
}

template Variant run(const Problem&, const float*, std::int32_t*, Variant, Stream&);
template Variant run(const Problem&, const std::int32_t*, std::int32_t*, Variant, Stream&);
template Variant run(const Problem&, const std::int8_t*, std::int32_t*, Variant, Stream&);
template Work work<float>(const Problem&);
template Work work<std::int32_t>(const Problem&);
template Work work<std::int8_t>(const Problem&);

} // namespace kg::histogram
