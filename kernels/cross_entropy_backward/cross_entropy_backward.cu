// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A read and a write of each element, 8 bytes in f32 and 4 in 16 bits, and 12 to 16 bytes per row;
// about 15 instructions per element, half of what an H200 could do meanwhile. Expected there: 92 %
// of a copy's rate for rows of some hundred classes and more.
//
// Nothing is added up along a row: lse says all that an element must know of the others. Blocks
// take tiles of rows as copies do (row_move.h), whole rows where there are enough of them, so that
// what belongs to a row is read once. Why not forward and backward in one pass over the logits,
// which would save this read: the losses' gradients are known only when the losses are.
#include "cross_entropy_backward/cross_entropy_backward.h"

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
  float weight_of_target; // what the target has of both
  Divisor classes;

  __device__ const T* logits(std::int64_t row) const {
    return problem.logits + row * problem.logits_stride;
  }
  __device__ T* gradient(std::int64_t row) const {
    return problem.gradient + row * problem.gradient_stride;
  }
};

// What all elements of a row need.
struct Row {
  std::int64_t target;
  float log_sum = 0;
  float factor = 0; // of the probabilities: 1 and the z-loss's part
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

// The gradient by Count neighbours, the first of which is class `first`.
template <class T, int Count>
__device__ __forceinline__ Pack<T, Count> slopes(const Arguments<T>& a, const Row& row,
                                                 const Pack<T, Count>& stored, std::int64_t first) {
  const Floats<Count> x = widened(stored);
  const std::int64_t apart = row.target - first;
  const int at = apart >= 0 && apart < Count ? static_cast<int>(apart) : -1;
  Pack<T, Count> result;
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    result.element[e] =
        from_float<T>(row.slope(x.value[e], e == at ? a.weight_of_target : a.weight_of_each));
  return result;
}

// kRowPacks packs of a row: the first begins at class `first`, negative where it begins before the
// row, the others `step` further on each. All loads are issued before the first exponential.
template <class T, int Count>
__device__ inline void turn_packs(const Arguments<T>& a, const Row& row, const T* x, T* dx,
                                  std::int64_t first, std::int64_t step) {
  using Stored = Pack<T, Count>;
  const std::int64_t classes = a.problem.classes;
  const bool ignored = row.target == kIgnored;
  if (first >= 0 && first + (kRowPacks - 1) * step + Count <= classes) {
    Stored stored[kRowPacks] = {};
    if (!ignored) {
      KG_UNROLL
      for (int p = 0; p < kRowPacks; ++p)
        stored[p] = *reinterpret_cast<const Stored*>(x + first + p * step);
      KG_UNROLL
      for (int p = 0; p < kRowPacks; ++p)
        stored[p] = slopes<T, Count>(a, row, stored[p], first + p * step);
    }
    KG_UNROLL
    for (int p = 0; p < kRowPacks; ++p)
      store_wide(reinterpret_cast<Stored*>(dx + first + p * step), stored[p]);
    return;
  }
  for (int p = 0; p < kRowPacks; ++p) { // at an end of the row
    const std::int64_t place = first + p * step;
    if (place >= 0 && place + Count <= classes) {
      Stored stored = {};
      if (!ignored) {
        stored = *reinterpret_cast<const Stored*>(x + place);
        stored = slopes<T, Count>(a, row, stored, place);
      }
      store_wide(reinterpret_cast<Stored*>(dx + place), stored);
      continue;
    }
    const std::int64_t end = place + Count < classes ? place + Count : classes;
    for (std::int64_t j = place < 0 ? 0 : place; j < end; ++j)
      dx[j] =
          ignored ? from_float<T>(0.0f) : slopes<T, 1>(a, row, Pack<T, 1>{{x[j]}}, j).element[0];
  }
}

// Blocks take tiles of blockDim.y rows by kRowPacks x blockDim.x packs.
template <class T, int Count>
__global__ void __launch_bounds__(kRowThreads, kRowBlocksPerSm)
    turn(Arguments<T> a, std::int64_t tiles_across) {
  const auto width = static_cast<std::int64_t>(blockDim.x) * Count;
  const std::int64_t rows_step = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
       i < a.problem.rows; i += rows_step) {
    const Row row(a, i);
    const T* const x = a.logits(i);
    T* const dx = a.gradient(i);
    const std::int64_t first =
        static_cast<std::int64_t>(threadIdx.x) * Count - words_past_boundary(dx) % Count;
    for (std::int64_t tile = blockIdx.x; tile < tiles_across; tile += gridDim.x)
      turn_packs<T, Count>(a, row, x, dx, first + tile * kRowPacks * width, width);
  }
}

namespace {

// Whole rows for each block where there are blocks enough, else parts of them.
dim3 grid_of(const RowTiles& tiles) {
  const DeviceProperties& device = device_properties();
  const std::int64_t resident = std::int64_t{device.sm_count} * kRowBlocksPerSm;
  const std::int64_t x = std::clamp<std::int64_t>(resident / tiles.down, 1, tiles.across);
  const std::int64_t y =
      std::min({tiles.down, div_up(resident, x), std::int64_t{device.max_grid_yz}});
  return {static_cast<unsigned>(x), static_cast<unsigned>(y)};
}

template <class T, int Count>
void launch_turn(const Arguments<T>& a, Stream& stream) {
  const std::int64_t rows = a.problem.rows, classes = a.problem.classes;
  // A pack of one element counts as a word of 16 bytes.
  const RowTiles tiles =
      Count == 1 ? row_tiles<Quad>(rows, classes, 0) : row_tiles<T>(rows, classes, Count - 1);
  launch(turn<T, Count>, {.grid = grid_of(tiles), .block = tiles.block, .stream = &stream}, a,
         tiles.across);
}

// Whether the rows of both matrices begin equally far from a multiple of kPackBytes.
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
    launch_turn<T, kPackElements<T>>(a, stream);
  else
    launch_turn<T, 1>(a, stream);
}

// dx may be the logits, or lie in the gaps between their rows. Of strides that differ only the
// first rows are looked at.
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

std::string_view name(Variant variant) {
  switch (variant) {
  case Variant::automatic: return "automatic";
  case Variant::naive: return "naive";
  case Variant::vectorized: return "vectorized";
  }
  return "";
}

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  if (variant == Variant::automatic) variant = Variant::vectorized;
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
