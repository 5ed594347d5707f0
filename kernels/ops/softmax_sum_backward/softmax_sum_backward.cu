// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// x is read once and dx is written once. dy comes from memory once, and from L2 for every further
// group of up to four terms: all groups' blocks are resident together and proceed alike. Bytes: 4
// (2 terms + 1) n for f32, half of that for f16 and bf16; 3 terms n operations. A library's product
// and sums of terms read dy and x a second time. Expected on an H200: copy bandwidth, 4.1 to 4.3
// TB/s.
//
// A thread has the packs of its group's terms and of dy in flight: with four terms 80 KiB per
// multiprocessor, of which 28 suffice (elementwise.cu). The sums of four terms fit a thread's
// registers; those of 64 would not. Why no atomics on the sums: the order, and so the bits, would
// change from run to run.
#include "ops/softmax_sum_backward/softmax_sum_backward.h"

#include "ops/softmax_sum/weights.h"
#include "primitives/block.h"
#include "primitives/tile_walk.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <string>

namespace kg::softmax_sum_backward {

using softmax_sum::make_weights;

constexpr int kGroup = 4; // terms per block, at most
constexpr int kWarps = kMapThreads / kLanes;
constexpr int kSingles = 4; // elements per term and thread, if it moves no packs

template <class T>
struct Problem {
  Arrays<T> arrays;
  float* sums; // [terms][parts]
  int terms;
  std::int64_t n;
};

template <class T>
__global__ void __launch_bounds__(kMapThreads) naive(Problem<T> problem) {
  __shared__ float weight[kMaxTerms];
  make_weights(problem.arrays.alpha, problem.terms, weight);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < problem.terms * problem.n)
    problem.arrays.dx[i] =
        from_float<T>(weight[i / problem.n] * to_float(problem.arrays.dy[i % problem.n]));
}

// One block per term.
template <class T>
__global__ void __launch_bounds__(kMapThreads) naive_sums(Problem<T> problem) {
  __shared__ float scratch[kWarps];
  const T* const x = problem.arrays.x + blockIdx.x * problem.n;
  float own = 0;
  for (std::int64_t i = threadIdx.x; i < problem.n; i += kMapThreads)
    own = fmaf(to_float(problem.arrays.dy[i]), to_float(x[i]), own);
  const float sum = block_sum(own, scratch);
  if (threadIdx.x == 0) problem.sums[blockIdx.x] = sum;
}

// The terms of a block: the grid's y extent divides all terms evenly.
struct Group {
  int first, count;
};

__device__ inline Group group_of(int block, int groups, int terms) {
  const int first = block * terms / groups;
  return {first, (block + 1) * terms / groups - first};
}

template <class T, int Count>
struct Loaded {
  Pack<T, Count> dy, x[kGroup];
};

// One group's part of the packs, which the grid's x extent divides. Count divides n.
template <int Count, int Loads, class T>
__device__ inline void take_part(const Problem<T>& problem) {
  using Chunk = Pack<T, Count>;
  __shared__ float weight[kMaxTerms];
  __shared__ float scratch[kGroup][kWarps];
  make_weights(problem.arrays.alpha, problem.terms, weight);
  const Group group =
      group_of(static_cast<int>(blockIdx.y), static_cast<int>(gridDim.y), problem.terms);
  const T* const x = problem.arrays.x + group.first * problem.n;
  T* const dx = problem.arrays.dx + group.first * problem.n;
  float own[kGroup] = {};

  walk_tiles<Loads>(
      problem.n / Count,
      [&](std::int64_t pack) {
        Loaded<T, Count> loaded{};
        loaded.dy = reinterpret_cast<const Chunk*>(problem.arrays.dy)[pack];
        KG_UNROLL
        for (int k = 0; k < kGroup; ++k)
          if (k < group.count)
            loaded.x[k] = reinterpret_cast<const Chunk*>(x + k * problem.n)[pack];
        return loaded;
      },
      [&](std::int64_t pack, const Loaded<T, Count>& loaded) {
        KG_UNROLL
        for (int k = 0; k < kGroup; ++k) {
          if (k >= group.count) continue;
          Chunk gradient;
          KG_UNROLL
          for (int e = 0; e < Count; ++e) {
            const float dy = to_float(loaded.dy.element[e]);
            own[k] = fmaf(dy, to_float(loaded.x[k].element[e]), own[k]);
            gradient.element[e] = from_float<T>(weight[group.first + k] * dy);
          }
          reinterpret_cast<Chunk*>(dx + k * problem.n)[pack] = gradient;
        }
      });
  KG_UNROLL
  for (int k = 0; k < kGroup; ++k) {
    const float sum = block_sum(own[k], scratch[k]);
    if (k < group.count && threadIdx.x == 0)
      problem.sums[(group.first + k) * gridDim.x + blockIdx.x] = sum;
  }
}

// For packs that lie within terms and are aligned in all arrays.
template <class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm) vectorized(Problem<T> problem) {
  take_part<kPackElements<T>, 1>(problem);
}

template <class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm) misaligned(Problem<T> problem) {
  take_part<1, kSingles>(problem);
}

// Computes dalpha from the parts' sums, by one block: one warp per term.
template <class T>
__global__ void __launch_bounds__(kMapThreads) finish(Problem<T> problem, std::int64_t parts) {
  __shared__ float weight[kMaxTerms];
  __shared__ float sum[kMaxTerms];
  make_weights(problem.arrays.alpha, problem.terms, weight);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  for (int k = static_cast<int>(threadIdx.x) / kLanes; k < problem.terms; k += kWarps) {
    float own = 0;
    for (std::int64_t part = lane; part < parts; part += kLanes)
      own += problem.sums[k * parts + part];
    own = warp_sum(own);
    if (lane == 0) sum[k] = own;
  }
  __syncthreads();
  const int own = static_cast<int>(threadIdx.x);
  if (own >= problem.terms) return;
  float mean = 0;
  for (int k = 0; k < problem.terms; ++k) mean = fmaf(weight[k], sum[k], mean);
  problem.arrays.dalpha[own] = from_float<T>(weight[own] * (sum[own] - mean));
}

namespace {

std::int64_t groups_of(std::int64_t terms) { return div_up(terms, kGroup); }

// Parts of dy: all groups together have at most as many blocks as are resident at once.
template <class T>
std::int64_t parts_of(Variant variant, std::int64_t terms, std::int64_t n) {
  if (n == 0) return 0;
  if (variant == Variant::naive) return 1;
  return std::max<std::int64_t>(map_grid<T, 1>(n) / groups_of(terms), 1);
}

template <class T>
bool moves_packs(const Problem<T>& problem) {
  const Arrays<T>& a = problem.arrays;
  return problem.n % kPackElements<T> == 0 && is_aligned(a.x) && is_aligned(a.dy) &&
         is_aligned(a.dx);
}

template <class T>
void launch_variant(const Problem<T>& problem, Variant variant, Stream& stream) {
  const std::int64_t parts = parts_of<T>(variant, problem.terms, problem.n);
  const auto config = [&](dim3 grid) {
    return LaunchConfig{.grid = grid, .block = kMapThreads, .stream = &stream};
  };
  if (problem.n > 0 && variant == Variant::naive) { // the sums first: dx may be x
    launch(naive_sums<T>, config(static_cast<unsigned>(problem.terms)), problem);
    const std::int64_t blocks = div_up(problem.terms * problem.n, kMapThreads);
    launch(naive<T>,
           config(grid_x(blocks, "softmax_sum_backward: the elements, one per thread,",
                         "use Variant::vectorized")),
           problem);
  } else if (problem.n > 0) {
    const dim3 grid(static_cast<unsigned>(parts), static_cast<unsigned>(groups_of(problem.terms)));
    if (moves_packs(problem))
      launch(vectorized<T>, config(grid), problem);
    else
      launch(misaligned<T>, config(grid), problem);
  }
  launch(finish<T>, config(1), problem, parts);
}

void require_sizes(std::int64_t terms, std::int64_t n) {
  require(terms >= 1 && terms <= kMaxTerms, "softmax_sum_backward: terms is " +
                                                std::to_string(terms) + "; it must be 1 to " +
                                                std::to_string(kMaxTerms));
  require_extent("softmax_sum_backward: n", n);
}

template <class T>
void require_arrays(const Arrays<T>& a, std::int64_t terms, std::int64_t n) {
  const std::string op = "softmax_sum_backward: ";
  require_elements(op + "x", a.x, terms * n);
  require_elements(op + "alpha", a.alpha, terms);
  require_elements(op + "dy", a.dy, n);
  require_elements(op + "dx", a.dx, terms * n);
  require_elements(op + "dalpha", a.dalpha, terms);
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t each = n * kBytes;
  require_same_or_apart(op + "x", a.x, "dx", a.dx, terms * each);
  require_apart(op + "dy", a.dy, each, "dx", a.dx, terms * each);
  require_apart(op + "alpha", a.alpha, terms * kBytes, "dx", a.dx, terms * each);
  require_apart(op + "x", a.x, terms * each, "dalpha", a.dalpha, terms * kBytes);
  require_apart(op + "dy", a.dy, each, "dalpha", a.dalpha, terms * kBytes);
  require_apart(op + "dx", a.dx, terms * each, "dalpha", a.dalpha, terms * kBytes);
  require_apart(op + "alpha", a.alpha, terms * kBytes, "dalpha", a.dalpha, terms * kBytes);
}

} // namespace

template <class T>
std::size_t workspace_bytes(Variant variant, std::int64_t terms, std::int64_t n) {
  require_sizes(terms, n);
  return static_cast<std::size_t>(parts_of<T>(variant, terms, n) * terms) * sizeof(float);
}

template <class T>
Variant run(const Arrays<T>& arrays, void* workspace, std::int64_t terms, std::int64_t n,
            Variant variant, Stream& stream) {
  require_sizes(terms, n);
  variant = resolved(variant);
  require_arrays(arrays, terms, n);
  const std::size_t needed = workspace_bytes<T>(variant, terms, n);
  auto* const sums = static_cast<float*>(workspace);
  require(needed == 0 || (sums != nullptr && is_aligned(sums)),
          "softmax_sum_backward: workspace is null or not aligned; pass " + std::to_string(needed) +
              " bytes of device memory at a multiple of " + std::to_string(kPackBytes));
  launch_variant(Problem<T>{arrays, sums, static_cast<int>(terms), n}, variant, stream);
  return variant;
}

Work work(Dtype dtype, std::int64_t terms, std::int64_t n) {
  const auto of_x = static_cast<double>(terms) * static_cast<double>(n);
  return {.bytes = (2 * of_x + static_cast<double>(n) + 2 * static_cast<double>(terms)) *
                   static_cast<double>(size_of(dtype)),
          .written = (of_x + static_cast<double>(terms)) * static_cast<double>(size_of(dtype)),
          .flops = 3 * of_x};
}

template std::size_t workspace_bytes<float>(Variant, std::int64_t, std::int64_t);
template std::size_t workspace_bytes<f16>(Variant, std::int64_t, std::int64_t);
template std::size_t workspace_bytes<bf16>(Variant, std::int64_t, std::int64_t);

template Variant run(const Arrays<float>&, void*, std::int64_t, std::int64_t, Variant, Stream&);
template Variant run(const Arrays<f16>&, void*, std::int64_t, std::int64_t, Variant, Stream&);
template Variant run(const Arrays<bf16>&, void*, std::int64_t, std::int64_t, Variant, Stream&);

} // namespace kg::softmax_sum_backward
