// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element, 8 bytes in f32 and 4 in 16 bits, plus 12 to 16 bytes per row.
// About 17 instructions per element, 60 % of what an H200 can issue in that time. Expected there:
// 92 % of copy bandwidth for rows of at least some hundred classes.
//
// No sum along a row is needed: lse carries all that an element needs of the others. Blocks take
// tiles of rows as copies do (row_move.h), whole rows if there are enough of them, so that per-row
// values are read once. Why not forward and backward in one pass over the logits, which would save
// this read: the losses' gradients are known only after the losses.
#include "ops/cross_entropy_backward/cross_entropy_backward.h"

#include "primitives/divisor.h"
#include "primitives/row_move.h"
#include "primitives/stored_pack.h"
#include "runtime/dtype.h"
#include "runtime/launch.h"

#include <algorithm>

namespace kg::cross_entropy_backward {

using cross_entropy::kIgnored;

constexpr int kNaiveThreads = 256;

template <class T>
struct Arguments {
  Problem<T> problem;
  float weight_of_each;   // see objective.h
  float weight_of_target; // weight_of_each + 1 - label_smoothing
  Divisor classes;

  __device__ const T* logits(std::int64_t row) const {
    return problem.logits + row * problem.logits_stride;
  }
  __device__ T* gradient(std::int64_t row) const {
    return problem.gradient + row * problem.gradient_stride;
  }
};

// Values that all elements of a row share.
struct Row {
  std::int64_t target;
  float log_sum = 0;
  float factor = 0; // of the probabilities: 1 plus the z-loss term
  float dloss = 0;

  template <class T>
  __device__ Row(const Arguments<T>& a, std::int64_t row)
      : target(class_of(a.problem.objective, row, a.problem.classes)) {
    if (target == kIgnored) return;
    log_sum = a.problem.log_sum[row];
    factor = fmaf(2 * a.problem.objective.z_loss, log_sum, 1.0f);
    dloss = a.problem.loss_gradient[row];
  }

  __device__ float slope(float x, float weight) const {
    return dloss * fmaf(expf(x - log_sum), factor, -weight);
  }
};

template <class T>
__global__ void __launch_bounds__(kNaiveThreads) naive(Arguments<T> a) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= a.problem.rows * a.problem.classes) return;
  const std::int64_t i = a.classes.quotient(index), j = index - i * a.problem.classes;
  const Row row(a, i);
  const float weight = j == row.target ? a.weight_of_target : a.weight_of_each;
  a.gradient(i)[j] =
      from_float<T>(row.target == kIgnored ? 0.0f : row.slope(to_float(a.logits(i)[j]), weight));
}

// Sources of a row's gradient, in packs of Count neighbours from class `first` on. Slopes serves
// rows with a target, Zeros ignored rows, which are not read.
template <class T>
struct Slopes {
  const Arguments<T>& a;
  const Row& row;
  const T* x;

  template <int Count>
  __device__ __forceinline__ Pack<T, Count> load(std::int64_t first) const {
    return *reinterpret_cast<const Pack<T, Count>*>(x + first);
  }
  template <int Count>
  __device__ __forceinline__ Pack<T, Count> transposed(Pack<T, Count> stored,
                                                       std::int64_t first) const {
    StoredPack<T, Count> raw;
    raw.set(stored);
    const Floats<Count> values = widened(raw);
    const std::int64_t apart = row.target - first;
    const int at = apart >= 0 && apart < Count ? static_cast<int>(apart) : -1;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      const float weight = e == at ? a.weight_of_target : a.weight_of_each;
      stored.element[e] = from_float<T>(row.slope(values.value[e], weight));
    }
    return stored;
  }
};
template <class T>
struct Zeros {
  template <int Count>
  __device__ __forceinline__ Pack<T, Count> load(std::int64_t) const {
    return {};
  }
  template <int Count>
  __device__ __forceinline__ Pack<T, Count> transposed(Pack<T, Count> stored, std::int64_t) const {
    return stored;
  }
};

// Writes the block's part of a row: tiles of kRowPacks x blockDim.x packs, whose loads are all
// issued before the first exponential. Block x = 0 also writes the elements outside the aligned
// packs.
template <int Count, class T, class Source>
__device__ inline void write_row(T* dx, std::int64_t classes, const Source& source) {
  using Stored = Pack<T, Count>;
  const std::int64_t boundary = elements_to_boundary(dx) % Count;
  const std::int64_t head = boundary < classes ? boundary : classes;
  const std::int64_t packs = (classes - head) / Count;
  const std::int64_t width = blockDim.x;
  const auto store = [&](std::int64_t first, const Stored& stored) {
    const Stored result = source.template transposed<Count>(stored, first);
    store_wide(reinterpret_cast<Stored*>(dx + first), result);
  };

  if (blockIdx.x == 0) {
    KG_ROLLED
    for (std::int64_t i = threadIdx.x; i < classes - packs * Count; i += width) {
      const std::int64_t place = i < head ? i : i + packs * Count;
      dx[place] = source.template transposed<1>(source.template load<1>(place), place).element[0];
    }
  }

  std::int64_t pack = blockIdx.x * kRowPacks * width + threadIdx.x;
  KG_ROLLED
  for (; pack < packs; pack += gridDim.x * kRowPacks * width) {
    const auto first = [&](int p) { return head + (pack + p * width) * Count; };
    if (pack + (kRowPacks - 1) * width < packs) {
      Stored stored[kRowPacks];
      KG_UNROLL
      for (int p = 0; p < kRowPacks; ++p) stored[p] = source.template load<Count>(first(p));
      KG_UNROLL
      for (int p = 0; p < kRowPacks; ++p) store(first(p), stored[p]);
    } else {
      KG_UNROLL
      for (int p = 0; p < kRowPacks - 1; ++p)
        if (pack + p * width < packs) store(first(p), source.template load<Count>(first(p)));
    }
  }
}

template <class T, int Count>
__global__ void __launch_bounds__(kRowThreads, kRowBlocksPerSm) turn(Arguments<T> a) {
  const std::int64_t rows_step = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
       i < a.problem.rows; i += rows_step) {
    const Row row(a, i);
    if (row.target == kIgnored)
      write_row<Count>(a.gradient(i), a.problem.classes, Zeros<T>{});
    else
      write_row<Count>(a.gradient(i), a.problem.classes, Slopes<T>{a, row, a.logits(i)});
  }
}

namespace {

// Whole rows per block if there are enough blocks, else parts of rows.
dim3 grid_of(const RowTiles& tiles) {
  const DeviceProperties& device = device_properties();
  const std::int64_t resident = std::int64_t{device.sm_count} * kRowBlocksPerSm;
  const std::int64_t x = std::clamp<std::int64_t>(resident / tiles.down, 1, tiles.across);
  const std::int64_t y =
      std::min({tiles.down, div_up(resident, x), std::int64_t{device.max_grid_yz}});
  return {static_cast<unsigned>(x), static_cast<unsigned>(y)};
}

template <class T, int Count>
void launch_transpose(const Arguments<T>& a, Stream& stream) {
  const std::int64_t rows = a.problem.rows, classes = a.problem.classes;
  // A single element is tiled like a word of 16 bytes.
  const RowTiles tiles =
      Count == 1 ? row_tiles<Quad>(rows, classes, 0) : row_tiles<T>(rows, classes, Count - 1);
  launch(turn<T, Count>, {.grid = grid_of(tiles), .block = tiles.block, .stream = &stream}, a);
}

// Whether the rows of both matrices have the same offset from a multiple of kPackBytes.
template <class T>
bool rows_are_alike(const Problem<T>& p) {
  const std::int64_t strides_apart = p.logits_stride - p.gradient_stride;
  return words_past_boundary(p.logits) == words_past_boundary(p.gradient) &&
         (p.rows == 1 || strides_apart % kPackElements<T> == 0);
}

template <class T>
void launch_variant(const Problem<T>& p, Variant variant, Stream& stream) {
  const double each = weight_of_each(p.objective, p.classes);
  const double target = 1 - static_cast<double>(p.objective.label_smoothing) + each;
  const Arguments<T> a{p, static_cast<float>(each), static_cast<float>(target), Divisor(p.classes)};
  if (variant == Variant::naive)
    launch(naive<T>,
           {.grid = grid_x(div_up(p.rows * p.classes, kNaiveThreads),
                           "cross_entropy_backward: the elements", "split the matrix by rows"),
            .block = kNaiveThreads,
            .stream = &stream},
           a);
  else if (rows_are_alike(p))
    launch_transpose<T, kPackElements<T>>(a, stream);
  else
    launch_transpose<T, 1>(a, stream);
}

// dx may be the logits, or lie in the gaps between their rows. If the strides differ, only the
// first rows are checked.
template <class T>
void require_rows_apart(const Problem<T>& p) {
  constexpr std::int64_t kElement = sizeof(T);
  const bool same_strides = p.logits_stride == p.gradient_stride;
  if (p.gradient == p.logits && (same_strides || p.rows == 1)) return;
  const RowsInMemory logits{p.logits, same_strides ? p.rows : 1, p.classes * kElement,
                            p.logits_stride * kElement};
  const RowsInMemory gradient{p.gradient, logits.count, logits.bytes, p.gradient_stride * kElement};
  const std::string op = "cross_entropy_backward: ";
  require_apart(op + "the first row of gradient", p.gradient, logits.bytes, "logits", logits);
  require_apart(op + "the first row of logits", p.logits, logits.bytes, "gradient", gradient);
}

template <class T>
void require_valid(const Problem<T>& p) {
  const std::string op = "cross_entropy_backward";
  require_valid(op, p.objective, p.rows, p.classes);
  const auto require_stride = [&](const std::string& what, std::int64_t stride) {
    require(stride >= p.classes, op + ": " + what + " is " + std::to_string(stride) +
                                     " and classes " + std::to_string(p.classes) +
                                     "; rows must not overlap");
  };
  require_stride("logits_stride", p.logits_stride);
  require_stride("gradient_stride", p.gradient_stride);
  require_elements(op + ": logits", p.logits, p.rows * p.classes);
  require_elements(op + ": gradient", p.gradient, p.rows * p.classes);
  require_elements(op + ": log_sum", p.log_sum, p.rows);
  require_elements(op + ": loss_gradient", p.loss_gradient, p.rows);
  if (p.rows == 0) return;
  require_rows_apart(p);
  constexpr std::int64_t kElement = sizeof(T);
  const RowsInMemory gradient{p.gradient, p.rows, p.classes * kElement,
                              p.gradient_stride * kElement};
  const auto require_alone = [&](const std::string& input, const void* data,
                                 std::int64_t bytes_each) {
    require_apart(op + ": " + input, data, p.rows * bytes_each, "gradient", gradient);
  };
  require_alone("target", p.objective.target.data(), p.objective.target.bytes_each());
  require_alone("log_sum", p.log_sum, sizeof(float));
  require_alone("loss_gradient", p.loss_gradient, sizeof(float));
}

} // namespace

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  variant = resolved(variant);
  if (p.rows > 0) launch_variant(p, variant, stream);
  return variant;
}

template <class T>
Work work(const Problem<T>& p) {
  const auto rows = static_cast<double>(p.rows);
  const double elements = rows * static_cast<double>(p.classes);
  return {.bytes =
              2 * elements * sizeof(T) +
              rows * (2 * sizeof(float) + static_cast<double>(p.objective.target.bytes_each())),
          .written = elements * sizeof(T),
          .flops = 5 * elements};
}

template Variant run(const Problem<float>&, Variant, Stream&);
template Variant run(const Problem<f16>&, Variant, Stream&);
template Variant run(const Problem<bf16>&, Variant, Stream&);
template Work work(const Problem<float>&);
template Work work(const Problem<f16>&);
template Work work(const Problem<bf16>&);

} // namespace kg::cross_entropy_backward
