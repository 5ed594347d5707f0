// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element; after its first use the bias comes from the caches. Bytes,
// for n = rows x cols: 8 n (f32) or 4 n (f16, bf16), plus the bias; flops: 2 n. A separate sum and
// gelu would move twice that. Expected on an H200: copy bandwidth, 4.1 to 4.3 TB/s.
//
// An H200 issues 504 instructions while it copies 2 KiB, and fewer at the clock that it sustains in
// long runs. A kernel of two packs that looks up the bias of each was measured on an H200. In f32
// it had 73 % of copy bandwidth with erfcf (501 instructions per 2 KiB) and 96 % with normal_tail
// (activation.h; 300). In bf16 it had 76 % (496: twice the elements). So if x and y are aligned,
// the threads of another kernel stay in their columns: one bias for all packs, converted once, and
// no division. If rows end within packs, the columns repeat after cols / gcd(cols, elements of a
// pack) packs. This kernel takes 237 instructions per 2 KiB in f32 and 338 in bf16; measured, 96 %
// of copy bandwidth. Each thread loads four packs of x before it uses the first: 64 KiB in flight
// on a multiprocessor.
//
// Otherwise threads take packs of y across row ends. The column of a pack takes one division by a
// number known to the host (primitives/divisor.h), about 15 instructions, beside the 17 to 23 per
// element. A pack that crosses a row end, or whose bias is not aligned, reads the bias element by
// element from L1. Two packs are in flight: 32 KiB on a multiprocessor, which needs 28
// (elementwise.cu).
//
// Why not one block per row, which needs no division: rows of 64 or 197 elements would leave most
// of it idle. Why not the bias in shared memory: it would save loads that hit the cache anyway.
#include "ops/bias_gelu/bias_gelu.h"

#include "primitives/activation.h"
#include "primitives/map.h"
#include "primitives/repeated_row.h"
#include "primitives/stored_pack.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

namespace kg::bias_gelu {

// Packs that a thread loads before it uses the first; kColumnPacks for vectorized_columns.
constexpr int kPacks = 2;
constexpr int kColumnPacks = 4;

template <class T>
struct Problem {
  const T* x;
  const T* bias;
  T* y;
  Divisor cols;
  std::int64_t size;
};

// Always inline: g++ does not instrument loads and stores of class-type arguments and results.
template <Form form, class T>
__device__ __forceinline__ T apply(T x, float bias) {
  constexpr auto kFunction =
      form == Form::erf ? activation::Function::gelu : activation::Function::gelu_tanh;
  return from_float<T>(activation::value<kFunction, T>(to_float(x) + bias));
}

template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads) naive(Problem<T> problem) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < problem.size)
    problem.y[i] = apply<form>(problem.x[i], to_float(problem.bias[i % problem.cols.value]));
}

template <class T>
struct Loaded {
  Pack<T, kPackElements<T>> x, bias;
};

// The inputs of the pack of y that begins at `index`.
template <class T>
__device__ __forceinline__ Loaded<T> load(const Problem<T>& problem, std::int64_t index) {
  constexpr int kCount = kPackElements<T>;
  using Chunk = Pack<T, kCount>;
  Loaded<T> loaded;
  const T* const x = problem.x + index;
  if (at_boundary(x)) {
    loaded.x = *reinterpret_cast<const Chunk*>(x);
  } else {
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) loaded.x.element[e] = x[e];
  }
  loaded.bias = repeated_pack(problem.bias, problem.cols, index);
  return loaded;
}

template <Form form, class T>
__device__ __forceinline__ void store(T* y, Pack<T, kPackElements<T>> x,
                                      const Floats<kPackElements<T>>& bias) {
  KG_UNROLL
  for (int e = 0; e < kPackElements<T>; ++e)
    x.element[e] = apply<form>(x.element[e], bias.value[e]);
  store_wide(reinterpret_cast<Pack<T, kPackElements<T>>*>(y), x);
}

template <class T>
__device__ __forceinline__ Floats<kPackElements<T>> widened(const Pack<T, kPackElements<T>>& pack) {
  Floats<kPackElements<T>> result;
  KG_UNROLL
  for (int e = 0; e < kPackElements<T>; ++e) result.value[e] = to_float(pack.element[e]);
  return result;
}

template <Form form, class T>
__device__ __forceinline__ void store(T* y, const Loaded<T>& loaded) {
  store<form>(y, loaded.x, widened(loaded.bias));
}

template <Form form, class T>
__device__ __forceinline__ void store_one(const Problem<T>& problem, std::int64_t index) {
  const std::int64_t column = index - problem.cols.quotient(index) * problem.cols.value;
  problem.y[index] = apply<form>(problem.x[index], to_float(problem.bias[column]));
}

// For aligned x and y. The packs of a thread are `step` packs apart, after which the columns
// repeat, so the thread loads and converts their bias once.
template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized_columns(Problem<T> problem, std::int64_t step) {
  constexpr int kCount = kPackElements<T>;
  const std::int64_t packs = problem.size / kCount;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kMapThreads + threadIdx.x;
  // Elements after the last pack.
  if (first < problem.size - packs * kCount) store_one<form>(problem, packs * kCount + first);
  if (first >= step) return;
  const Floats<kCount> bias = widened(repeated_pack(problem.bias, problem.cols, first * kCount));

  for (; first < packs; first += kColumnPacks * step) {
    const auto pack = [&](int l) { return first + l * step; };
    StoredPack<T, kCount> x[kColumnPacks];
    KG_UNROLL
    for (int l = 0; l < kColumnPacks; ++l)
      if (pack(l) < packs) x[l].load(problem.x + pack(l) * kCount);
    loaded(x);
    KG_UNROLL
    for (int l = 0; l < kColumnPacks; ++l) {
      if (pack(l) >= packs) break;
      store<form>(problem.y + pack(l) * kCount, x[l].pack(), bias);
    }
  }
}

// `head` elements precede the first pack boundary of y. No __restrict__: y may be x. Therefore all
// loads of a tile come before its first store.
template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized(Problem<T> problem, int head) {
  constexpr int kCount = kPackElements<T>;
  constexpr int kTile = kMapThreads * kPacks;
  const std::int64_t packs = (problem.size - head) / kCount;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kTile;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile + threadIdx.x;
  std::int64_t tile_end = static_cast<std::int64_t>(blockIdx.x + 1) * kTile;
  const auto index_of = [head](std::int64_t pack) { return head + pack * kCount; };

  for (; tile_end <= packs; first += step, tile_end += step) {
    Loaded<T> loaded[kPacks];
    KG_UNROLL
    for (int l = 0; l < kPacks; ++l) loaded[l] = load(problem, index_of(first + l * kMapThreads));
    KG_UNROLL
    for (int l = 0; l < kPacks; ++l)
      store<form>(problem.y + index_of(first + l * kMapThreads), loaded[l]);
  }
  // The last, partial tile: `first` is in range only for the block whose turn it is.
  for (; first < packs && first < tile_end; first += kMapThreads)
    store<form>(problem.y + index_of(first), load(problem, index_of(first)));

  // The last block, which has the least work in the loop above, handles head and tail.
  if (blockIdx.x + 1 == gridDim.x) {
    const std::int64_t body = packs * kCount;
    const int edge = static_cast<int>(problem.size - body);
    const int i = static_cast<int>(threadIdx.x);
    if (i < edge) store_one<form>(problem, i < head ? i : body + i);
  }
}

namespace {

// How many of `threads` threads stay in their columns: a multiple of the packs after which the
// columns repeat. 0 if x or y is not aligned. Also 0 if rows are not whole packs and a quarter of
// the threads would be idle: then the other kernel is as fast.
template <class T>
std::int64_t column_step(const Problem<T>& problem, std::int64_t threads) {
  constexpr std::int64_t kCount = kPackElements<T>;
  if (!at_boundary(problem.x) || !at_boundary(problem.y)) return 0;
  const bool whole = problem.cols.value % kCount == 0 && at_boundary(problem.bias);
  const std::int64_t period = problem.cols.value / std::gcd(problem.cols.value, kCount);
  const std::int64_t step = threads / period * period;
  return whole || 4 * step >= 3 * threads ? step : 0;
}

template <Form form, class T>
void launch_variant(const Problem<T>& problem, Variant variant, Stream& stream) {
  if (variant == Variant::naive) {
    const unsigned grid =
        grid_x(div_up(problem.size, kMapThreads),
               "bias_gelu: " + std::to_string(problem.size) + " elements, one per thread,",
               "use Variant::vectorized");
    launch(naive<form, T>, {.grid = grid, .block = kMapThreads, .stream = &stream}, problem);
    return;
  }
  const unsigned grid = map_grid<T, kPacks>(problem.size);
  const std::int64_t step = column_step(problem, std::int64_t{grid} * kMapThreads);
  if (step > 0) {
    launch(vectorized_columns<form, T>, {.grid = grid, .block = kMapThreads, .stream = &stream},
           problem, step);
    return;
  }
  const int head =
      static_cast<int>(std::min<std::int64_t>(elements_to_boundary(problem.y), problem.size));
  launch(vectorized<form, T>, {.grid = grid, .block = kMapThreads, .stream = &stream}, problem,
         head);
}

template <class T>
void require_arrays(const Problem<T>& problem) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  require_elements("bias_gelu: x", problem.x, problem.size);
  require_elements("bias_gelu: bias", problem.bias, problem.cols.value);
  require_elements("bias_gelu: y", problem.y, problem.size);
  require_same_or_apart("bias_gelu: x", problem.x, "y", problem.y, problem.size * kBytes);
  require_apart("bias_gelu: bias", problem.bias, problem.cols.value * kBytes, "y", problem.y,
                problem.size * kBytes);
}

} // namespace

template <class T>
Variant run(Form form, const T* x, const T* bias, T* y, std::int64_t rows, std::int64_t cols,
            Variant variant, Stream& stream) {
  require_extent("bias_gelu: rows", rows);
  require_extent("bias_gelu: cols", cols);
  variant = resolved(variant);
  if (rows == 0 || cols == 0) return variant;
  const Problem<T> problem{x, bias, y, Divisor(cols), rows * cols};
  require_arrays(problem);
  switch (form) {
  case Form::erf: launch_variant<Form::erf>(problem, variant, stream); break;
  case Form::tanh: launch_variant<Form::tanh>(problem, variant, stream); break;
  }
  return variant;
}

template Variant run(Form, const float*, const float*, float*, std::int64_t, std::int64_t, Variant,
                     Stream&);
template Variant run(Form, const f16*, const f16*, f16*, std::int64_t, std::int64_t, Variant,
                     Stream&);
template Variant run(Form, const bf16*, const bf16*, bf16*, std::int64_t, std::int64_t, Variant,
                     Stream&);

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const double count = static_cast<double>(rows) * static_cast<double>(cols);
  return {.bytes = (2 * count + static_cast<double>(cols)) * static_cast<double>(size_of(dtype)),
          .written = count * static_cast<double>(size_of(dtype)),
          .flops = 2 * count};
}

} // namespace kg::bias_gelu
