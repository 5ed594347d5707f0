// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two reads and one write per element: 12 n bytes (f32) or 6 n (f16, bf16) of n = rows x cols, and
// 4 n operations. A gradient and a sum of its columns one after the other move 4 n elements, not 3,
// and round dx before they add it. The pieces' sums, 4 bytes per column each, are written and read
// once: where rows are cut, a piece has at least 64 of them. Expected on an H200: 90% of the rate
// of an addition; in f16 and bf16 by gelu's short form (activation.h).
//
// A thread keeps to the columns of one pack: its bias and its sums stay in registers from row to
// row, and it needs no division. Two rows' packs of x and dy, one of 16-bit types, are under way:
// 64 or 32 KiB on a multiprocessor, of which 28 are needed (elementwise.cu). Why no atomics on
// dbias: the order, so the bits, would change from run to run.
#include "bias_gelu_backward/bias_gelu_backward.h"

#include "primitives/activation_slope.h"
#include "primitives/pack.h"
#include "primitives/sum_partials.h"
#include "reduction/launches.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <string>

namespace kg::bias_gelu_backward {

using reduction::kBlocksPerSm;
using reduction::kThreads;

// Of x and of dy, loaded by a thread before it uses the first one.
template <class T, int Count>
constexpr int kLoads = Count == 1                   ? 4
                       : sizeof(T) == sizeof(float) ? 2
                                                    : 1;

template <class T>
struct Problem {
  Arrays<T> arrays;
  float* partials; // null: dbias is written at once
  std::int64_t rows, cols;
};

template <Form form, class T>
__device__ inline float gradient(float x, float bias, float dy) {
  constexpr auto kFunction =
      form == Form::erf ? activation::Function::gelu : activation::Function::gelu_tanh;
  return activation::gradient<kFunction, T>(x + bias, dy);
}

template <Form form, class T>
__global__ void __launch_bounds__(kThreads) naive(Problem<T> problem) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= problem.cols) return;
  const Arrays<T>& a = problem.arrays;
  const float bias = to_float(a.bias[column]);
  float sum = 0;
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    const std::int64_t i = row * problem.cols + column;
    const float dx = gradient<form, T>(to_float(a.x[i]), bias, to_float(a.dy[i]));
    a.dx[i] = from_float<T>(dx);
    sum += dx;
  }
  a.dbias[column] = from_float<T>(sum);
}

template <class T, int Count>
struct Loaded {
  Pack<T, Count> x, dy;
};

// Rows first, first + step, ... of the columns from `column` on: dx is written, `sum` is theirs.
template <Form form, class T, int Count>
__device__ inline void differentiate(const Problem<T>& problem, std::int64_t column,
                                     std::int64_t first, std::int64_t last, std::int64_t step,
                                     float (&sum)[Count]) {
  using Chunk = Pack<T, Count>;
  constexpr int kRows = kLoads<T, Count>;
  const auto bias = *reinterpret_cast<const Chunk*>(problem.arrays.bias + column);
  const auto load = [&](std::int64_t row) {
    const std::int64_t place = row * problem.cols + column;
    Loaded<T, Count> loaded;
    loaded.x = *reinterpret_cast<const Chunk*>(problem.arrays.x + place);
    loaded.dy = *reinterpret_cast<const Chunk*>(problem.arrays.dy + place);
    return loaded;
  };
  const auto take = [&](const Loaded<T, Count>& loaded, std::int64_t row) {
    Chunk dx;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      const float value = gradient<form, T>(
          to_float(loaded.x.element[e]), to_float(bias.element[e]), to_float(loaded.dy.element[e]));
      dx.element[e] = from_float<T>(value);
      sum[e] += value;
    }
    store_wide(reinterpret_cast<Chunk*>(problem.arrays.dx + row * problem.cols + column), dx);
  };
  std::int64_t row = first;
  if constexpr (kRows > 1) { // else the second loop is the same, and its twin costs registers
    for (; row + (kRows - 1) * step < last; row += kRows * step) {
      Loaded<T, Count> loaded[kRows];
      KG_UNROLL
      for (int l = 0; l < kRows; ++l) loaded[l] = load(row + l * step);
      KG_UNROLL
      for (int l = 0; l < kRows; ++l) take(loaded[l], row + l * step);
    }
  }
  for (; row < last; row += step) take(load(row), row);
}

// A block is `width` packs of Count columns wide and kThreads / width rows deep; both are powers of
// two. Each y of the grid takes `piece` rows. Count divides cols.
template <Form form, int Count, class T>
__device__ inline void take_piece(const Problem<T>& problem, int width, std::int64_t piece) {
  // Padded, for neighbouring columns, which lie in rows of their own, to have banks of their own.
  __shared__ float sums[Count][kThreads + kLanes / Count];
  const int thread = static_cast<int>(threadIdx.x);
  const int layers = kThreads / width;
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * width * Count;
  const std::int64_t column = tile + thread % width * Count;
  const std::int64_t first = blockIdx.y * piece;
  const std::int64_t last = first + piece < problem.rows ? first + piece : problem.rows;
  float sum[Count] = {};
  if (column < problem.cols)
    differentiate<form>(problem, column, first + thread / width, last, layers, sum);
  KG_UNROLL
  for (int e = 0; e < Count; ++e) sums[e][thread] = sum[e];
  __syncthreads();

  for (int c = thread; c < width * Count && tile + c < problem.cols; c += kThreads) {
    float all = sums[c % Count][c / Count];
    for (int layer = 1; layer < layers; ++layer) all += sums[c % Count][layer * width + c / Count];
    if (problem.partials != nullptr)
      problem.partials[partial_offset(blockIdx.y, 1, 0, problem.cols) + tile + c] = all;
    else
      problem.arrays.dbias[tile + c] = from_float<T>(all);
  }
}

// Where packs lie within rows and are aligned in all arrays.
template <Form form, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    vectorized(Problem<T> problem, int width, std::int64_t piece) {
  take_piece<form, kPackElements<T>>(problem, width, piece);
}

template <Form form, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    misaligned(Problem<T> problem, int width, std::int64_t piece) {
  take_piece<form, 1>(problem, width, piece);
}

namespace {

template <class T>
reduction::Pieces pieces_of(std::int64_t rows, std::int64_t cols) {
  return reduction::column_pieces(
      reduction::packed(static_cast<const T*>(nullptr), {1, rows, cols}));
}

template <class T>
bool moves_packs(const Arrays<T>& a, std::int64_t cols) {
  return cols % kPackElements<T> == 0 && is_aligned(a.x) && is_aligned(a.bias) &&
         is_aligned(a.dy) && is_aligned(a.dx);
}

template <Form form, class T>
void launch_variant(Problem<T> problem, Variant variant, Stream& stream) {
  const std::int64_t rows = problem.rows;
  const std::int64_t cols = problem.cols;
  const auto grid = [](std::int64_t blocks) {
    return grid_x(blocks, "bias_gelu_backward: the columns", "split the matrix by columns");
  };
  if (variant == Variant::naive) {
    launch(naive<form, T>,
           {.grid = grid(div_up(cols, kThreads)), .block = kThreads, .stream = &stream}, problem);
    return;
  }
  const auto [count, piece] = pieces_of<T>(rows, cols);
  if (count == 1) problem.partials = nullptr;
  const bool packs = moves_packs(problem.arrays, cols);
  const std::int64_t across = packs ? cols / kPackElements<T> : cols;
  const int width = reduction::tile_width(across, rows);
  const LaunchConfig config{.grid = dim3(grid(div_up(across, width)), static_cast<unsigned>(count)),
                            .block = kThreads,
                            .stream = &stream};
  if (packs)
    launch(vectorized<form, T>, config, problem, width, piece);
  else
    launch(misaligned<form, T>, config, problem, width, piece);
  if (count > 1)
    launch_sum_partials<T, 1>("bias_gelu_backward", problem.partials, count, cols,
                              {problem.arrays.dbias}, stream);
}

template <class T>
void require_arrays(const Arrays<T>& a, std::int64_t rows, std::int64_t cols) {
  const std::string op = "bias_gelu_backward: ";
  require_elements(op + "x", a.x, rows * cols);
  require_elements(op + "bias", a.bias, rows == 0 ? 0 : cols);
  require_elements(op + "dy", a.dy, rows * cols);
  require_elements(op + "dx", a.dx, rows * cols);
  require_elements(op + "dbias", a.dbias, cols);
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t each = rows * cols * kBytes;
  require_same_or_apart(op + "x", a.x, "dx", a.dx, each);
  require_same_or_apart(op + "dy", a.dy, "dx", a.dx, each);
  require_apart(op + "bias", a.bias, cols * kBytes, "dx", a.dx, each);
  require_apart(op + "bias", a.bias, cols * kBytes, "dbias", a.dbias, cols * kBytes);
  require_apart(op + "x", a.x, each, "dbias", a.dbias, cols * kBytes);
  require_apart(op + "dy", a.dy, each, "dbias", a.dbias, cols * kBytes);
  require_apart(op + "dx", a.dx, each, "dbias", a.dbias, cols * kBytes);
}

} // namespace

template <class T>
std::size_t workspace_bytes(Variant variant, std::int64_t rows, std::int64_t cols) {
  if (variant == Variant::naive || cols == 0) return 0;
  const std::int64_t count = pieces_of<T>(rows, cols).count;
  return count == 1 ? 0 : partials_bytes(count, 1, cols);
}

template <class T>
Variant run(Form form, const Arrays<T>& arrays, void* workspace, std::int64_t rows,
            std::int64_t cols, Variant variant, Stream& stream) {
  require_extent("bias_gelu_backward: rows", rows);
  require_extent("bias_gelu_backward: cols", cols);
  variant = resolved(variant);
  if (cols == 0) return variant;
  require_arrays(arrays, rows, cols);
  auto* const partials = static_cast<float*>(workspace);
  const std::size_t needed = workspace_bytes<T>(variant, rows, cols);
  require(needed == 0 || (partials != nullptr && is_aligned(partials)),
          "bias_gelu_backward: workspace is null or not aligned; pass " + std::to_string(needed) +
              " bytes of device memory at a multiple of " + std::to_string(kPackBytes));
  const Problem<T> problem{arrays, partials, rows, cols};
  switch (form) {
  case Form::erf: launch_variant<Form::erf>(problem, variant, stream); break;
  case Form::tanh: launch_variant<Form::tanh>(problem, variant, stream); break;
  }
  return variant;
}

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const double count = static_cast<double>(rows) * static_cast<double>(cols);
  return {.bytes =
              (3 * count + 2 * static_cast<double>(cols)) * static_cast<double>(size_of(dtype)),
          .written = (count + static_cast<double>(cols)) * static_cast<double>(size_of(dtype)),
          .flops = 4 * count};
}

template std::size_t workspace_bytes<float>(Variant, std::int64_t, std::int64_t);
template std::size_t workspace_bytes<f16>(Variant, std::int64_t, std::int64_t);
template std::size_t workspace_bytes<bf16>(Variant, std::int64_t, std::int64_t);

template Variant run(Form, const Arrays<float>&, void*, std::int64_t, std::int64_t, Variant,
                     Stream&);
template Variant run(Form, const Arrays<f16>&, void*, std::int64_t, std::int64_t, Variant, Stream&);
template Variant run(Form, const Arrays<bf16>&, void*, std::int64_t, std::int64_t, Variant,
                     Stream&);

} // namespace kg::bias_gelu_backward
