// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two reads and one write per element of y, n = rows x cols: 12 n bytes (f32) or 6 n (f16, bf16),
// and 2 n operations. A separate activation and product would move 5 n elements, not 3. Expected on
// an H200: the bandwidth of an addition, 4.1 to 4.3 TB/s; in f16 and bf16 with gelu's short form
// (see activation.cu).
//
// Threads take packs of y. If packs are aligned and lie within rows, the row of a pack takes one
// division by a number known to the host. Each thread has two packs of each half in flight, one for
// 16-bit types: 64 or 32 KiB on a multiprocessor, which needs 28 (elementwise.cu).
//
// Otherwise threads stay in their columns: the packs of a thread are whole rows apart, 197 packs
// for rows of 197 columns. A thread computes once where its row ends and how far its gates and
// values are past pack boundaries. Each pack is assembled from the two that contain it
// (primitives/unaligned_load.h). If a pack crosses a row end, the next row's values are loaded as
// well; some lane's pack does in almost every warp for rows of 197 columns. This takes four to six
// 16-byte loads per pack; single elements take 16 loads of two bytes. With the latter and a
// division per pack, rows of 197 columns had 62 % of copy bandwidth on an H200 (bf16). Now a KiB
// takes 189 instructions (swiglu; 145 if packs are aligned) of 252 issued during its copy. Expected
// there: 85 %. Rows shorter than a pack are processed element by element.
#include "ops/gated_activation/gated_activation.h"

#include "primitives/activation.h"
#include "primitives/divisor.h"
#include "primitives/tile_walk.h"
#include "primitives/unaligned_load.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

namespace kg::gated_activation {

// Packs that a thread computes before it stores the first; as many as registers permit.
template <class T>
constexpr int kPacks = sizeof(T) == sizeof(float) ? 2 : 1;

template <class T>
struct Problem {
  const T* x;
  T* y;
  Divisor cols;
  std::int64_t size; // of y
};

// Always inline: g++ does not instrument loads and stores of class-type arguments and results.
template <Form form, class T>
__device__ __forceinline__ T gated(T gate, T value) {
  return from_float<T>(activation::value<function_of(form), T>(to_float(gate)) * to_float(value));
}

// The position in x of the gate of element `index` of y; its value is `cols` elements later.
template <class T>
__device__ inline std::int64_t place_of(const Problem<T>& problem, std::int64_t index) {
  return index + problem.cols.quotient(index) * problem.cols.value;
}

// The inputs of Count elements of one row.
template <class T, int Count>
struct Loaded {
  Pack<T, Count> gate, value;
};

template <int Count, class T>
__device__ __forceinline__ Loaded<T, Count> load(const Problem<T>& problem, std::int64_t index) {
  using Chunk = Pack<T, Count>;
  const T* const gate = problem.x + place_of(problem, index);
  Loaded<T, Count> loaded;
  loaded.gate = *reinterpret_cast<const Chunk*>(gate);
  loaded.value = *reinterpret_cast<const Chunk*>(gate + problem.cols.value);
  return loaded;
}

template <Form form, class T, int Count>
__device__ inline void store(T* to, const Loaded<T, Count>& loaded) {
  Pack<T, Count> y;
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    y.element[e] = gated<form>(loaded.gate.element[e], loaded.value.element[e]);
  store_wide(reinterpret_cast<Pack<T, Count>*>(to), y);
}

template <Form form, class T>
__device__ inline void take_one(const Problem<T>& problem, std::int64_t index) {
  store<form>(problem.y + index, load<1>(problem, index));
}

template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads) naive(Problem<T> problem) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < problem.size) take_one<form>(problem, i);
}

template <Form form, int Count, int Loads, class T>
__device__ inline void walk(const Problem<T>& problem) {
  walk_tiles<Loads>(
      problem.size / Count,
      [&](std::int64_t number) { return load<Count>(problem, number * Count); },
      [&](std::int64_t number, const Loaded<T, Count>& loaded) {
        store<form>(problem.y + number * Count, loaded);
      });
}

// For packs that lie within rows and are aligned in both arrays.
template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm) vectorized(Problem<T> problem) {
  walk<form, kPackElements<T>, kPacks<T>>(problem);
}

// For packs that may span several rows.
template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized_single(Problem<T> problem) {
  walk<form, 1, kPacks<T> * kPackElements<T>>(problem);
}

// The packs of y that a kernel processes. `head` elements precede the first pack; enough follow the
// last that x has one more pack after its values. A thread's packs are `step` apart, which is a
// whole number of rows.
struct Packs {
  int head;
  std::int64_t count, step;
};

// For packs of at most two rows. `step` packs are whole rows, so all packs of a thread have the row
// end at one position, and gates and values at one offset from a pack boundary.
template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized_shifted(Problem<T> problem, Packs packs) {
  constexpr int kCount = kPackElements<T>;
  std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * kMapThreads + threadIdx.x;
  const std::int64_t body = packs.count * kCount;
  if (number < problem.size - body)
    take_one<form>(problem, number < packs.head ? number : body + number);
  if (number >= packs.step) return;

  const std::int64_t cols = problem.cols.value;
  std::int64_t index = packs.head + number * kCount;
  const T* from = problem.x + place_of(problem, index);
  const std::int64_t of_row = (problem.cols.quotient(index) + 1) * cols - index;
  const bool crosses = of_row < kCount;
  const PackWords mask = mask_of_first<T>(crosses ? static_cast<int>(of_row) : kCount);
  // The gates; the values, and past the row end the next row's gates; then the next row's values.
  int shift[3];
  std::int64_t boundary[3];
  KG_UNROLL
  for (int k = 0; k < 3; ++k) {
    shift[k] = elements_past_boundary(from + k * cols);
    boundary[k] = k * cols - shift[k];
  }

  for (; number < packs.count; number += packs.step) {
    UnalignedPack<T> packs_of[3];
    packs_of[0].load(from + boundary[0]);
    packs_of[1].load(from + boundary[1]);
    if (crosses) packs_of[2].load(from + boundary[2]);
    packs_of[0].loaded();
    packs_of[1].loaded();
    PackWords gate = packs_of[0].words(shift[0]);
    PackWords value = packs_of[1].words(shift[1]);
    if (crosses) {
      packs_of[2].loaded();
      gate = joined(gate, value, mask);
      value = joined(value, packs_of[2].words(shift[2]), mask);
    }
    store<form>(problem.y + index, Loaded<T, kCount>{pack_of<T>(gate), pack_of<T>(value)});
    index += packs.step * kCount;
    from += 2 * packs.step * kCount;
  }
}

namespace {

// The number of packs after which a pack end is a row end.
template <class T>
std::int64_t period_of(std::int64_t cols) {
  return cols / std::gcd(cols, std::int64_t{kPackElements<T>});
}

// A multiple of the period that keeps at least 15/16 of the threads busy. There are at most
// kMostGrids times as many threads as are resident at once.
inline std::int64_t step_of(std::int64_t period) {
  constexpr std::int64_t kMostGrids = 16;
  const std::int64_t resident =
      std::int64_t{device_properties().sm_count} * kMapBlocksPerSm * kMapThreads;
  for (std::int64_t threads = resident; threads <= kMostGrids * resident; threads += resident) {
    const std::int64_t step = threads / period * period;
    if (16 * step >= 15 * threads) return step;
  }
  return period;
}

template <class T>
Packs packs_of(const Problem<T>& problem) {
  constexpr int kCount = kPackElements<T>;
  // The first element of x may be past a boundary.
  const int head = elements_to_boundary(problem.y) + (is_aligned(problem.x) ? 0 : kCount);
  const std::int64_t count = std::max<std::int64_t>(problem.size - head, 0) / kCount - 1;
  return {head, count, std::min(step_of(period_of<T>(problem.cols.value)), count)};
}

template <Form form, class T>
void launch_packs(const Problem<T>& problem, Stream& stream) {
  constexpr int kCount = kPackElements<T>;
  const LaunchConfig config{
      .grid = map_grid<T, kPacks<T>>(problem.size), .block = kMapThreads, .stream = &stream};
  const Packs packs = packs_of(problem);
  if (problem.cols.value % kCount == 0 && is_aligned(problem.x) && is_aligned(problem.y))
    launch(vectorized<form, T>, config, problem);
  else if (problem.cols.value < kCount || packs.count < 1)
    launch(vectorized_single<form, T>, config, problem);
  else
    launch(vectorized_shifted<form, T>,
           {.grid = grid_x(div_up(packs.step, kMapThreads), "gated_activation: a row's vectors",
                           "split the matrix by columns"),
            .block = kMapThreads,
            .stream = &stream},
           problem, packs);
}

template <Form form, class T>
void launch_variant(const Problem<T>& problem, Variant variant, Stream& stream) {
  if (variant == Variant::naive) {
    const unsigned grid =
        grid_x(div_up(problem.size, kMapThreads),
               "gated_activation: " + std::to_string(problem.size) + " elements, one per thread,",
               "use Variant::vectorized");
    launch(naive<form, T>, {.grid = grid, .block = kMapThreads, .stream = &stream}, problem);
    return;
  }
  launch_packs<form>(problem, stream);
}

template <class T>
void require_arrays(const T* x, const T* y, std::int64_t size) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  require_elements("gated_activation: x", x, 2 * size);
  require_elements("gated_activation: y", y, size);
  require_apart("gated_activation: x", x, 2 * size * kBytes, "y", y, size * kBytes);
}

} // namespace

template <class T>
Variant run(Form form, const T* x, T* y, std::int64_t rows, std::int64_t cols, Variant variant,
            Stream& stream) {
  require_extent("gated_activation: rows", rows);
  require_extent("gated_activation: cols", cols);
  variant = resolved(variant);
  if (rows == 0 || cols == 0) return variant;
  require_arrays(x, y, rows * cols);
  const Problem<T> problem{x, y, Divisor(cols), rows * cols};
  switch (form) {
  case Form::swiglu: launch_variant<Form::swiglu>(problem, variant, stream); break;
  case Form::geglu: launch_variant<Form::geglu>(problem, variant, stream); break;
  case Form::reglu: launch_variant<Form::reglu>(problem, variant, stream); break;
  }
  return variant;
}

template Variant run(Form, const float*, float*, std::int64_t, std::int64_t, Variant, Stream&);
template Variant run(Form, const f16*, f16*, std::int64_t, std::int64_t, Variant, Stream&);
template Variant run(Form, const bf16*, bf16*, std::int64_t, std::int64_t, Variant, Stream&);

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const double count = static_cast<double>(rows) * static_cast<double>(cols);
  return {.bytes = 3 * count * static_cast<double>(size_of(dtype)),
          .written = count * static_cast<double>(size_of(dtype)),
          .flops = 2 * count};
}

} // namespace kg::gated_activation
