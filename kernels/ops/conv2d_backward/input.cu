// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d_backward, variants implicit_gemm and depthwise of the input: convolutions of dy by conv2d,
// one for each phase of the strides (phases.h). Their weights are the phase's taps in reverse
// order, with input and output channels exchanged. For stride 1, the single phase is dx; for other
// strides, each phase is written to the workspace and then scattered to dx.
//
// Bytes: those of conv2d, plus the weights; for strides above 1, dx is also written and read once
// more. Flops: those of the forward operation; a dy padded with zeros between its elements would
// need stride^2 times as many. Expected on an H200: conv2d's rate for stride 1, and 80 % of it for
// stride 2 at 3x3 and 64 channels.
//
// Why not a kernel that gathers dy for all phases: it would duplicate conv2d with another output
// address, whose registers cost more than the extra pass through the workspace if sums are long.
#include "ops/conv2d_backward/filter.h"
#include "ops/conv2d_backward/phases.h"
#include "ops/conv2d_backward/variants.h"

#include "primitives/pack.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

namespace kg::conv2d_backward {

inline constexpr int kMoveThreads = 256;

// A phase's taps in terms of the forward operation's taps.
struct PhaseTaps {
  int first_row, row_step, first_column, column_step;
};

// Transposes weights for the phase's convolution: filters `to`, one per input channel, from filters
// `from`, one per output channel.
template <class T>
__global__ void __launch_bounds__(kMoveThreads)
    turn(const T* __restrict__ weights, T* __restrict__ turned, Filter from, Filter to,
         PhaseTaps taps, unsigned count) {
  const unsigned index = blockIdx.x * kMoveThreads + threadIdx.x;
  if (index >= count) return;
  const auto filter = static_cast<unsigned>(to.elements());
  const auto input = static_cast<int>(index / filter); // over all groups
  const Weight weight = weight_at(static_cast<int>(index % filter), to);
  const int output = input / from.channels * to.channels + weight.channel; // over all groups
  const int row = taps.first_row + (to.rows - 1 - weight.row) * taps.row_step;
  const int column = taps.first_column + (to.columns - 1 - weight.column) * taps.column_step;
  turned[index] = weights[static_cast<std::int64_t>(output) * from.elements() +
                          input % from.channels * from.channel_step + row * from.row_step +
                          column * from.column_step];
}

// A phase's elements of dx, at a fixed stride, and the location of their values. Both are outer x
// rows x columns x vectors of channels (nchw: single elements).
struct Spread {
  int rows, columns;         // of the phase
  unsigned packs;            //
  std::int64_t first, outer; // elements: the first, and between planes or images
  std::int64_t row, column;  //
  std::int64_t from_first, from_outer, from_row, from_column;
};

// values: null for zeros.
template <class T, int Count>
__global__ void __launch_bounds__(kMoveThreads)
    spread(const T* __restrict__ values, T* __restrict__ dx, Spread s, unsigned count) {
  const unsigned index = blockIdx.x * kMoveThreads + threadIdx.x;
  if (index >= count) return;
  const window::Place at = window::place_of(index, s.packs, Count, s.columns, s.rows);
  Pack<T, Count> value{};
  if (values != nullptr)
    value = *reinterpret_cast<const Pack<T, Count>*>(
        values + (s.from_first + at.outer * s.from_outer + at.row * s.from_row +
                  at.column * s.from_column + at.inner));
  *reinterpret_cast<Pack<T, Count>*>(dx + (s.first + at.outer * s.outer + at.row * s.row +
                                           at.column * s.column + at.inner)) = value;
}

namespace {

LaunchConfig threads_of(unsigned threads, Stream& stream) {
  return {.grid = grid_x(div_up(threads, kMoveThreads), "conv2d_backward: the elements",
                         "split the batch"),
          .block = kMoveThreads,
          .stream = &stream};
}

// Elements of the transposed weights, rounded up to a multiple of 16 bytes.
template <class T>
std::int64_t turned_elements(const Geometry& g) {
  return div_up(g.weights(), kPackElements<T>) * kPackElements<T>;
}

template <class T>
void launch_turn(const Problem<T>& p, const Geometry& turned, const Phase& down,
                 const Phase& across, T* to, Stream& stream) {
  const PhaseTaps taps{static_cast<int>(down.first_tap), static_cast<int>(down.tap_step),
                       static_cast<int>(across.first_tap), static_cast<int>(across.tap_step)};
  const unsigned count = window::count_threads("conv2d_backward: the weights", turned.weights());
  launch(turn<T>, threads_of(count, stream), p.weights, to, filter_of(p.geometry),
         filter_of(turned), taps, count);
}

// values: the phase's outputs; null: zeros.
template <class T, int Count>
void launch_spread(const Geometry& g, const Geometry& turned, const Phase& down,
                   const Phase& across, const T* values, T* dx, Stream& stream) {
  const bool last = g.layout == Layout::nhwc;
  const std::int64_t inner = last ? g.in_channels : 1;
  const std::int64_t from_columns = values == nullptr ? 0 : turned.out_width();
  const std::int64_t from_rows = values == nullptr ? 0 : turned.out_height();
  Spread s;
  s.rows = static_cast<int>(down.count);
  s.columns = static_cast<int>(across.count);
  s.packs = static_cast<unsigned>(inner / Count);
  s.first = (down.first * g.width + across.first) * inner;
  s.outer = g.height * g.width * inner;
  s.row = g.vertical.stride * g.width * inner;
  s.column = g.horizontal.stride * inner;
  s.from_first = (down.skipped * from_columns + across.skipped) * inner;
  s.from_outer = from_rows * from_columns * inner;
  s.from_row = from_columns * inner;
  s.from_column = inner;
  const unsigned count =
      window::count_threads("conv2d_backward: a phase of dx",
                            g.batch * g.in_channels / Count * down.count * across.count);
  launch(spread<T, Count>, threads_of(count, stream), values, dx, s, count);
}

} // namespace

template <class T>
bool input_supported(const Geometry& g, conv2d::Variant forward) {
  bool supported = true;
  each_phase(g, [&](const Phase& down, const Phase& across) {
    if (down.windows.kernel * across.windows.kernel > 0)
      supported = supported && conv2d::supports<T>(forward, geometry_of(g, down, across));
  });
  return supported;
}

template <class T>
std::size_t input_workspace_bytes(const Geometry& g) {
  std::int64_t values = 0;
  each_phase(g, [&](const Phase& down, const Phase& across) {
    if (down.windows.kernel * across.windows.kernel > 0 && !is_all_of_dx(g, down, across))
      values = std::max(values, geometry_of(g, down, across).outputs());
  });
  return static_cast<std::size_t>(turned_elements<T>(g) + values) * sizeof(T);
}

template <class T>
void run_input(const Problem<T>& p, conv2d::Variant forward, Stream& stream) {
  const Geometry& g = p.geometry;
  T* const weights = static_cast<T*>(p.workspace);
  T* const values = weights + turned_elements<T>(g);
  constexpr int kCount = kPackElements<T>;
  const bool packs =
      g.layout == Layout::nhwc && g.in_channels % kCount == 0 && is_aligned(p.gradient);
  each_phase(g, [&](const Phase& down, const Phase& across) {
    const Geometry turned = geometry_of(g, down, across);
    const bool has_taps = turned.taps() > 0;
    const bool direct = has_taps && is_all_of_dx(g, down, across);
    if (has_taps) {
      launch_turn(p, turned, down, across, weights, stream);
      conv2d::run<T>({turned, p.dy, weights, nullptr, direct ? p.gradient : values}, forward,
                     stream);
    }
    if (direct) return;
    const T* const from = has_taps ? values : nullptr;
    packs ? launch_spread<T, kCount>(g, turned, down, across, from, p.gradient, stream)
          : launch_spread<T, 1>(g, turned, down, across, from, p.gradient, stream);
  });
}

template bool input_supported<float>(const Geometry&, conv2d::Variant);
template bool input_supported<f16>(const Geometry&, conv2d::Variant);
template bool input_supported<bf16>(const Geometry&, conv2d::Variant);
template std::size_t input_workspace_bytes<float>(const Geometry&);
template std::size_t input_workspace_bytes<f16>(const Geometry&);
template std::size_t input_workspace_bytes<bf16>(const Geometry&);
template void run_input(const Problem<float>&, conv2d::Variant, Stream&);
template void run_input(const Problem<f16>&, conv2d::Variant, Stream&);
template void run_input(const Problem<bf16>&, conv2d::Variant, Stream&);

} // namespace kg::conv2d_backward
