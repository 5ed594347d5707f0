// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Three reads and two writes per element of dy, n = rows x cols: 20 n bytes (f32) or 10 n (f16,
// bf16), and 5 n operations. Separate gradients of product and activation, with the activation
// recomputed first, would move 10 n elements, not 5. Expected on an H200: the bandwidth of other
// mixed streams, 4.1 to 4.4 TB/s; in f16 and bf16 with gelu's short form.
//
// A thread has one pack of both halves and of dy in flight: 48 KiB on a multiprocessor, which needs
// 28 (elementwise.cu). The row of a pack takes one division by a number known to the host. Why
// single elements where packs would cross row ends: both halves of dx are written, each with its
// own alignment, and no shift aligns both. Neighbouring lanes then access neighbouring elements.
#include "ops/gated_activation_backward/gated_activation_backward.h"

#include "primitives/activation_slope.h"
#include "primitives/divisor.h"
#include "primitives/tile_walk.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <string>

namespace kg::gated_activation_backward {

constexpr int kPacks = 1; // per input, loaded by a thread before the first use

template <class T>
struct Problem {
  const T* x;
  const T* dy;
  T* dx; // may be x: a thread writes only elements that it alone reads
  Divisor cols;
  std::int64_t size; // of dy
};

// Count elements of one row: gates at `place` in x and dx, values `cols` elements later.
template <class T, int Count>
struct Loaded {
  std::int64_t place;
  Pack<T, Count> gate, value, dy;
};

template <int Count, class T>
__device__ inline Loaded<T, Count> load(const Problem<T>& problem, std::int64_t index) {
  using Chunk = Pack<T, Count>;
  const std::int64_t cols = problem.cols.value;
  Loaded<T, Count> loaded;
  loaded.place = index + problem.cols.quotient(index) * cols;
  loaded.gate = *reinterpret_cast<const Chunk*>(problem.x + loaded.place);
  loaded.value = *reinterpret_cast<const Chunk*>(problem.x + loaded.place + cols);
  loaded.dy = *reinterpret_cast<const Chunk*>(problem.dy + index);
  return loaded;
}

template <Form form, class T, int Count>
__device__ inline void store(const Problem<T>& problem, const Loaded<T, Count>& loaded) {
  using Chunk = Pack<T, Count>;
  constexpr auto kFunction = function_of(form);
  Chunk gate, value;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) {
    const float x = to_float(loaded.gate.element[e]);
    const float dy = to_float(loaded.dy.element[e]);
    const float product = dy * to_float(loaded.value.element[e]);
    gate.element[e] = from_float<T>(activation::gradient<kFunction, T>(x, product));
    value.element[e] = from_float<T>(dy * activation::value<kFunction, T>(x));
  }
  store_wide(reinterpret_cast<Chunk*>(problem.dx + loaded.place), gate);
  store_wide(reinterpret_cast<Chunk*>(problem.dx + loaded.place + problem.cols.value), value);
}

template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads) naive(Problem<T> problem) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < problem.size) store<form>(problem, load<1>(problem, i));
}

template <Form form, int Count, int Loads, class T>
__device__ inline void walk(const Problem<T>& problem) {
  walk_tiles<Loads>(
      problem.size / Count,
      [&](std::int64_t number) { return load<Count>(problem, number * Count); },
      [&](std::int64_t, const Loaded<T, Count>& loaded) { store<form>(problem, loaded); });
}

// For packs that lie within rows and are aligned in all arrays.
template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm) vectorized(Problem<T> problem) {
  walk<form, kPackElements<T>, kPacks>(problem);
}

template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm) misaligned(Problem<T> problem) {
  walk<form, 1, kPacks * kPackElements<T>>(problem);
}

namespace {

template <Form form, class T>
void launch_variant(const Problem<T>& problem, Variant variant, Stream& stream) {
  if (variant == Variant::naive) {
    const unsigned grid = grid_x(div_up(problem.size, kMapThreads),
                                 "gated_activation_backward: " + std::to_string(problem.size) +
                                     " elements, one per thread,",
                                 "use Variant::vectorized");
    launch(naive<form, T>, {.grid = grid, .block = kMapThreads, .stream = &stream}, problem);
    return;
  }
  const LaunchConfig config{
      .grid = map_grid<T, kPacks>(problem.size), .block = kMapThreads, .stream = &stream};
  if (problem.cols.value % kPackElements<T> == 0 && is_aligned(problem.x) &&
      is_aligned(problem.dy) && is_aligned(problem.dx))
    launch(vectorized<form, T>, config, problem);
  else
    launch(misaligned<form, T>, config, problem);
}

template <class T>
void require_arrays(const Problem<T>& problem) {
  const std::int64_t bytes = problem.size * static_cast<std::int64_t>(sizeof(T));
  require_elements("gated_activation_backward: x", problem.x, 2 * problem.size);
  require_elements("gated_activation_backward: dy", problem.dy, problem.size);
  require_elements("gated_activation_backward: dx", problem.dx, 2 * problem.size);
  require_same_or_apart("gated_activation_backward: x", problem.x, "dx", problem.dx, 2 * bytes);
  require_apart("gated_activation_backward: dy", problem.dy, bytes, "dx", problem.dx, 2 * bytes);
}

} // namespace

template <class T>
Variant run(Form form, const T* x, const T* dy, T* dx, std::int64_t rows, std::int64_t cols,
            Variant variant, Stream& stream) {
  require_extent("gated_activation_backward: rows", rows);
  require_extent("gated_activation_backward: cols", cols);
  variant = resolved(variant);
  if (rows == 0 || cols == 0) return variant;
  const Problem<T> problem{x, dy, dx, Divisor(cols), rows * cols};
  require_arrays(problem);
  switch (form) {
  case Form::swiglu: launch_variant<Form::swiglu>(problem, variant, stream); break;
  case Form::geglu: launch_variant<Form::geglu>(problem, variant, stream); break;
  case Form::reglu: launch_variant<Form::reglu>(problem, variant, stream); break;
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
  return {.bytes = 5 * count * static_cast<double>(size_of(dtype)),
          .written = 2 * count * static_cast<double>(size_of(dtype)),
          .flops = 5 * count};
}

} // namespace kg::gated_activation_backward
