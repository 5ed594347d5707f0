// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two reads and one write per element of y, n = rows x cols: 12 n bytes (f32) or 6 n (f16, bf16),
// and 2 n operations. An activation and a product one after the other move 5 n elements, not 3.
// Expected on an H200: the rate of an addition, 4.1 to 4.3 TB/s; in f16 and bf16 by gelu's short
// form (see activation.cu).
//
// Threads take packs of y, wherever rows end (primitives/write_packs.h): a pack's row takes one
// division by a number that the host knows. Where the halves of x are not aligned, or a pack
// crosses the end of a row, x is read element by element, from the first-level cache after the
// first time. Each thread has two packs of each half under way, one of 16-bit types: 64 or 32 KiB
// on a multiprocessor, of which 28 are needed (elementwise.cu).
#include "gated_activation/gated_activation.h"

#include "primitives/activation.h"
#include "primitives/divisor.h"
#include "primitives/write_packs.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <string>

namespace kg::gated_activation {

// Made by a thread before it stores the first one; as many as registers permit.
template <class T>
constexpr int kPacks = sizeof(T) == sizeof(float) ? 2 : 1;

template <class T>
struct Problem {
  const T* x;
  T* y;
  Divisor cols;
  std::int64_t size; // of y
};

// Always inline: g++ does not instrument what a call takes from memory as a class, or leaves there.
template <Form form, class T>
__device__ __forceinline__ T gated(T gate, T value) {
  return from_float<T>(activation::value<function_of(form), T>(to_float(gate)) * to_float(value));
}

// The gate of element `index` of y; its factor lies `cols` elements behind.
template <class T>
__device__ inline const T* gate_of(const Problem<T>& problem, std::int64_t index) {
  return problem.x + index + problem.cols.quotient(index) * problem.cols.value;
}

template <Form form, class T>
__device__ __forceinline__ T element_at(const Problem<T>& problem, std::int64_t index) {
  const T* const gate = gate_of(problem, index);
  return gated<form>(gate[0], gate[problem.cols.value]);
}

template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads) naive(Problem<T> problem) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < problem.size) problem.y[i] = element_at<form>(problem, i);
}

template <class T>
struct Loaded {
  Pack<T, kPackElements<T>> gate, value;
};

// What the pack of y that begins at `index` is made of.
template <class T>
__device__ inline Loaded<T> load(const Problem<T>& problem, std::int64_t index) {
  constexpr int kCount = kPackElements<T>;
  using Chunk = Pack<T, kCount>;
  const std::int64_t cols = problem.cols.value;
  const std::int64_t row = problem.cols.quotient(index);
  const T* const gate = problem.x + index + row * cols;
  const bool in_one_row = index + kCount <= (row + 1) * cols;
  Loaded<T> loaded;
  if (in_one_row && elements_to_boundary(gate) == 0 && elements_to_boundary(gate + cols) == 0) {
    loaded.gate = *reinterpret_cast<const Chunk*>(gate);
    loaded.value = *reinterpret_cast<const Chunk*>(gate + cols);
    return loaded;
  }
  KG_UNROLL
  for (int e = 0; e < kCount; ++e) {
    const T* const one = in_one_row ? gate + e : gate_of(problem, index + e);
    loaded.gate.element[e] = one[0];
    loaded.value.element[e] = one[cols];
  }
  return loaded;
}

template <Form form, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized(Problem<T> problem, int head) {
  write_packs<kPacks<T>>(
      problem.y, problem.size, head, [&](std::int64_t index) { return load(problem, index); },
      [](Loaded<T> loaded) {
        KG_UNROLL
        for (int e = 0; e < kPackElements<T>; ++e)
          loaded.gate.element[e] = gated<form>(loaded.gate.element[e], loaded.value.element[e]);
        return loaded.gate;
      },
      [&](std::int64_t index) { return element_at<form>(problem, index); });
}

namespace {

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
  const int head =
      static_cast<int>(std::min<std::int64_t>(elements_to_boundary(problem.y), problem.size));
  launch(vectorized<form, T>,
         {.grid = map_grid<T, kPacks<T>>(problem.size), .block = kMapThreads, .stream = &stream},
         problem, head);
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
