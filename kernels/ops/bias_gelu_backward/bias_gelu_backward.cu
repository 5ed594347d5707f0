// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two reads and one write per element: 12 n bytes (f32) or 6 n (f16, bf16) for n = rows x cols, and
// 4 n operations. Separate kernels for the gradient and its column sums would move 4 n elements,
// not 3, and round dx before the sum. The pieces' sums, 4 bytes per column each, are written and
// read once; if rows are split, a piece has at least 64 rows. Expected on an H200: 90% of the
// bandwidth of an addition; in f16 and bf16 with gelu's short form (activation.h).
//
// A thread stays in the columns of one pack: its bias and its sums stay in registers from row to
// row, and it needs no division. If rows end within packs, several rows form a folded row whose end
// is a pack end. Eight rows of 197 columns are 197 packs; sixteen are 394, which leave 22 of 416
// lanes idle. Each row of a fold has its own sums, 4 more bytes per column and piece. Elements
// after the last folded row are processed singly when the sums are combined. With single elements,
// as for unaligned x, dy or dx, rows of 197 columns had 52 % of copy bandwidth on an H200 (bf16). A
// KiB took 217 instructions (erf) of the 252 that it issues while it copies one, with 16 KiB in
// flight. With packs it takes 163, and 136 for tanh. Expected there: 85 %. Two rows' packs of x and
// dy, one for 16-bit types, are in flight: 64 or 32 KiB on a multiprocessor, which needs 28
// (elementwise.cu).
//
// Why no atomics on dbias: the order, and so the bits, would change from run to run.
#include "ops/bias_gelu_backward/bias_gelu_backward.h"

#include "ops/reduction/launches.h"
#include "primitives/activation_slope.h"
#include "primitives/repeated_row.h"
#include "primitives/sum_partials.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

namespace kg::bias_gelu_backward {

using reduction::kBlocksPerSm;
using reduction::kThreads;

// Packs of x and of dy that a thread loads before it uses the first.
template <class T, int Count>
constexpr int kLoads = Count == 1                   ? 4
                       : sizeof(T) == sizeof(float) ? 2
                                                    : 1;

template <class T>
struct Problem {
  Arrays<T> arrays;
  float* partials; // if null, dbias is written directly
  std::int64_t rows, cols;
  std::int64_t fold; // rows of the matrix per folded row
  Divisor bias_cols;
  std::int64_t size; // of the matrix, with an incomplete last row
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

// The bias of the columns from `column` on.
template <class T, int Count>
__device__ __forceinline__ Pack<T, Count> bias_of(const Problem<T>& problem, std::int64_t column) {
  if constexpr (Count > 1)
    return repeated_pack(problem.arrays.bias, problem.bias_cols, column);
  else
    return {problem.arrays.bias[column]};
}

// Rows first, first + step, ... of the columns from `column` on: writes dx, adds to `sum`.
template <Form form, class T, int Count>
__device__ inline void differentiate(const Problem<T>& problem, std::int64_t column,
                                     std::int64_t first, std::int64_t last, std::int64_t step,
                                     float (&sum)[Count]) {
  using Chunk = Pack<T, Count>;
  constexpr int kRows = kLoads<T, Count>;
  const Chunk bias = bias_of<T, Count>(problem, column);
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
  if constexpr (kRows > 1) { // else both loops are the same, and two cost registers
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

// Processes the only element of its column after the last row: writes dx.
template <Form form, class T>
__device__ inline float differentiate_one(const Problem<T>& problem, std::int64_t place,
                                          std::int64_t column_of_bias) {
  const Arrays<T>& a = problem.arrays;
  const float dx = gradient<form, T>(to_float(a.x[place]), to_float(a.bias[column_of_bias]),
                                     to_float(a.dy[place]));
  a.dx[place] = from_float<T>(dx);
  return dx;
}

// A block is `width` packs of Count columns wide and kThreads / width rows deep; both are powers of
// two. Each grid y processes `piece` rows. Count divides cols.
template <Form form, int Count, class T>
__device__ inline void take_piece(const Problem<T>& problem, int width, std::int64_t piece) {
  // Padded so that neighbouring columns, which are in different rows, use different banks.
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

  const std::int64_t rest = problem.rows * problem.cols + tile;
  for (int c = thread; c < width * Count && tile + c < problem.cols; c += kThreads) {
    const std::int64_t row = problem.bias_cols.quotient(tile + c);
    const std::int64_t of_bias = tile + c - row * problem.bias_cols.value;
    float all = sums[c % Count][c / Count];
    for (int layer = 1; layer < layers; ++layer) all += sums[c % Count][layer * width + c / Count];
    if (last == problem.rows && rest + c < problem.size)
      all += differentiate_one<form>(problem, rest + c, of_bias);
    if (problem.partials == nullptr)
      problem.arrays.dbias[of_bias] = from_float<T>(all);
    else // each row of a folded row has its own part
      problem
          .partials[partial_offset(blockIdx.y * problem.fold + row, 1, 0, problem.bias_cols.value) +
                    of_bias] = all;
  }
}

// For packs that are aligned in x, dy and dx.
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

// How many rows form a folded row, so that packs lie within it and few lanes of a warp are idle. 0
// if packs do not pay: a block would have less than one row per layer.
template <class T>
std::int64_t fold_of(std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t kLayers = kThreads / kLanes;
  const std::int64_t least = kPackElements<T> / std::gcd(cols, kPackElements<T>);
  if (least == 1) return 1;
  std::int64_t result = 0;
  for (std::int64_t fold = least; fold <= kLanes * least && rows / fold >= kLayers; fold += least) {
    result = fold;
    const std::int64_t packs = fold * cols / kPackElements<T>;
    const std::int64_t lanes = div_up(packs, kLanes) * kLanes;
    if (16 * (lanes - packs) <= lanes) break;
  }
  return result;
}

// The matrix as the kernels see it.
template <class T>
struct Plan {
  bool packs;
  std::int64_t fold, rows, cols;
  reduction::Pieces pieces;

  Plan(bool aligned, std::int64_t all_rows, std::int64_t each_cols) {
    const std::int64_t folded = aligned ? fold_of<T>(all_rows, each_cols) : 0;
    packs = folded > 0;
    fold = std::max<std::int64_t>(folded, 1);
    rows = all_rows / fold;
    cols = each_cols * fold;
    pieces = reduction::column_pieces(
        reduction::packed(static_cast<const T*>(nullptr), {1, rows, cols}));
  }

  std::int64_t parts() const { return pieces.count * fold; }
};

template <Form form, class T>
void launch_variant(Problem<T> problem, Variant variant, Stream& stream) {
  const std::int64_t cols = problem.cols;
  const auto grid = [](std::int64_t blocks) {
    return grid_x(blocks, "bias_gelu_backward: the columns", "split the matrix by columns");
  };
  if (variant == Variant::naive) {
    launch(naive<form, T>,
           {.grid = grid(div_up(cols, kThreads)), .block = kThreads, .stream = &stream}, problem);
    return;
  }
  const Arrays<T>& a = problem.arrays;
  const Plan<T> plan(is_aligned(a.x) && is_aligned(a.dy) && is_aligned(a.dx), problem.rows, cols);
  if (plan.parts() == 1) problem.partials = nullptr;
  problem.rows = plan.rows;
  problem.cols = plan.cols;
  problem.fold = plan.fold;
  const std::int64_t across = plan.packs ? plan.cols / kPackElements<T> : plan.cols;
  const int width = reduction::tile_width(across, plan.rows);
  const LaunchConfig config{
      .grid = dim3(grid(div_up(across, width)), static_cast<unsigned>(plan.pieces.count)),
      .block = kThreads,
      .stream = &stream};
  if (plan.packs)
    launch(vectorized<form, T>, config, problem, width, plan.pieces.size);
  else
    launch(misaligned<form, T>, config, problem, width, plan.pieces.size);
  if (plan.parts() > 1)
    launch_sum_partials<T, 1>("bias_gelu_backward", problem.partials, plan.parts(), cols,
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
  const auto parts = [&](bool aligned) { return Plan<T>(aligned, rows, cols).parts(); };
  const std::int64_t most = std::max(parts(true), parts(false));
  return most == 1 ? 0 : partials_bytes(most, 1, cols);
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
  const Problem<T> problem{arrays, partials, rows, cols, 1, Divisor(cols), rows * cols};
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
