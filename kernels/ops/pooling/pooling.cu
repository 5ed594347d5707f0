// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Selects the pooling kernel. The lower bound is one read of each element of x and one write of
// each element of y: pooling that halves both extents moves 1.25 elements per element of x. The
// arithmetic of small windows takes a GPU far less time.
#include "ops/pooling/pooling.h"

#include "ops/pooling/geometry.h"
#include "ops/pooling/global.h"
#include "ops/pooling/pack_windows.h"
#include "ops/pooling/plane_windows.h"
#include "ops/pooling/reduce.h"
#include "ops/pooling/row_windows.h"
#include "ops/pooling/small_planes.h"
#include "ops/pooling/strips.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <cstdint>
#include <string>

namespace kg::pooling {

constexpr int kNaiveThreads = 256;

template <class Reduce, class T>
__global__ void __launch_bounds__(kNaiveThreads)
    naive(const T* x, T* y, Geometry g, bool include_padding, unsigned outputs) {
  const unsigned index = blockIdx.x * kNaiveThreads + threadIdx.x;
  if (index >= outputs) return;
  const Place at =
      place_of(index, static_cast<unsigned>(g.inner), 1, g.horizontal.out, g.vertical.out);
  const Taps across = taps_of(g.horizontal, at.column);
  const Taps down = taps_of(g.vertical, at.row);
  const T* from = x + (at.outer * g.x_plane + at.inner);
  float result = Reduce::kIdentity;
  for (int i = down.first; i < down.end; ++i) {
    const std::int64_t row = (down.start + i * g.vertical.dilation) * g.vertical.x_step;
    for (int j = across.first; j < across.end; ++j) {
      const std::int64_t column = (across.start + j * g.horizontal.dilation) * g.horizontal.x_step;
      result = Reduce::combine(result, to_float(from[row + column]));
    }
  }
  const typename Reduce::Finish finish(counted_taps(down, across, include_padding));
  y[index] = from_float<T>(finish(result));
}

namespace {

unsigned grid_for(std::int64_t blocks) {
  return grid_x(blocks, "pooling: the outputs", "split the batch");
}

template <class Reduce, class T>
void launch_naive(const Problem& problem, bool include_padding, const T* x, T* y, Stream& stream) {
  launch(naive<Reduce, T>,
         {.grid = grid_for(div_up(problem.outputs(), kNaiveThreads)),
          .block = kNaiveThreads,
          .stream = &stream},
         x, y, Geometry(problem), include_padding,
         count_threads("pooling: variant naive", problem.outputs()));
}

template <class Reduce, class T, int Count>
void launch_strips(const Problem& problem, bool include_padding, const T* x, T* y, Stream& stream) {
  const Geometry g(problem);
  const bool along_width = problem.layout == Layout::nhwc;
  Strips s;
  s.along = along_width ? g.horizontal : g.vertical;
  s.across = along_width ? g.vertical : g.horizontal;
  s.packs = static_cast<unsigned>(g.inner / Count);
  s.strips = static_cast<unsigned>(div_up(s.along.out, kStrip));
  s.strips_first = along_width;
  s.x_plane = g.x_plane;
  s.y_plane = g.y_plane;
  s.include_padding = include_padding;
  s.threads =
      count_threads("pooling: variant vectorized", g.outer * s.across.out * s.strips * s.packs);
  launch(strips<Reduce, T, Count>,
         {.grid = grid_for(div_up(s.threads, kStripThreads)),
          .block = kStripThreads,
          .stream = &stream},
         x, y, s);
}

// Launches a kernel for windows known at compile time.
template <class T, class Windows>
void launch_windows(void (*kernel)(const T*, T*, Windows), int threads, const Windows& windows,
                    const T* x, T* y, Stream& stream) {
  launch(kernel,
         {.grid = grid_for(div_up(windows.threads, threads)),
          .block = static_cast<unsigned>(threads),
          .stream = &stream},
         x, y, windows);
}

// Runs a kernel for windows known at compile time; returns whether one applies. Their divisors are
// limited to 2^31. `packs`: of channels.
template <class Reduce, class T>
bool ran_square(const Problem& problem, bool packs, bool include_padding, const T* x, T* y,
                Stream& stream) {
  const bool nchw = problem.layout == Layout::nchw;
  if ((!nchw && !packs) || problem.outputs() >= kMostPlaneThreads) return false;
  const bool aligned = elements_to_boundary(x) == 0 && elements_to_boundary(y) == 0;
  constexpr int kCount = kPackElements<T>;
  const Geometry g(problem);
  const auto run = [&]<Square square>() {
    constexpr int kernel = square.kernel, stride = square.stride;
    if (!is(problem, square)) return false;
    if (!nchw)
      launch_windows(pack_windows<Reduce, T, kernel, stride>, kPackThreads,
                     pack_windows_of<square>(g, kCount, include_padding), x, y, stream);
    else if (aligned && has_rows_of_packs(problem, square, kCount))
      launch_windows(row_windows<Reduce, T, kernel, stride>, kRowThreads,
                     row_windows_of<square>(g, kCount, include_padding), x, y, stream);
    else
      launch_windows(plane_windows<Reduce, T, kernel, stride>, kPlaneThreads,
                     plane_windows_of(g, include_padding), x, y, stream);
    return true;
  };
  return run.template operator()<Square{3, 2}>() || run.template operator()<Square{3, 1}>() ||
         run.template operator()<Square{2, 2}>();
}

// Pools planes that are small enough; returns whether they are.
template <class Reduce, class T, int Count>
bool ran_small(const Problem& problem, const T* x, T* y, Stream& stream) {
  const SmallPlanes small =
      small_planes_of<T, Count>(problem.planes(), problem.height * problem.width);
  if (small.of_block == 0) return false;
  launch(small_planes<Reduce, T, Count>,
         {.grid = grid_for(div_up(small.planes, small.of_block)),
          .block = kSmallThreads,
          .stream = &stream},
         x, y, small);
  return true;
}

template <class Reduce, class T, int Count>
void launch_global(const Problem& problem, const T* x, T* y, Stream& stream) {
  const std::int64_t size = problem.height * problem.width;
  if (problem.layout == Layout::nchw) {
    if (ran_small<Reduce, T, (Count > 1 ? Count : kWordElements<T>)>(problem, x, y, stream)) return;
    launch(global_planes<Reduce, T, Count>,
           {.grid = grid_for(div_up(problem.planes(), kPlanesPerBlock)),
            .block = kGlobalThreads,
            .stream = &stream},
           x, y, problem.planes(), size);
    return;
  }
  // Enough adjacent packs for whole sectors, but no more than exist.
  const auto packs = static_cast<int>(problem.channels / Count);
  unsigned side_by_side = 1;
  while (side_by_side < kLanes && static_cast<int>(side_by_side) < packs) side_by_side *= 2;
  launch(global_channels<Reduce, T, Count>,
         {.grid = grid_for(problem.batch * div_up(packs, side_by_side)),
          .block = {side_by_side, kGlobalThreads / side_by_side},
          .stream = &stream},
         x, y, size, packs);
}

// Uses 16-byte packs if all are aligned: of channels, or, for global_planes, of a plane.
template <class Reduce, class T>
void launch_vectorized(const Problem& problem, bool include_padding, const T* x, T* y,
                       Stream& stream) {
  constexpr int kCount = kPackElements<T>;
  const bool nhwc = problem.layout == Layout::nhwc;
  const bool global = problem.is_global();
  const std::int64_t run = nhwc ? problem.channels : problem.height * problem.width;
  const bool packs = run % kCount == 0 && elements_to_boundary(x) == 0 &&
                     (elements_to_boundary(y) == 0 || !nhwc) && (nhwc || global);
  if (global)
    packs ? launch_global<Reduce, T, kCount>(problem, x, y, stream)
          : launch_global<Reduce, T, 1>(problem, x, y, stream);
  else if (!ran_square<Reduce>(problem, packs, include_padding, x, y, stream))
    packs ? launch_strips<Reduce, T, kCount>(problem, include_padding, x, y, stream)
          : launch_strips<Reduce, T, 1>(problem, include_padding, x, y, stream);
}

template <class Reduce, class T>
void launch_variant(const Problem& problem, bool include_padding, const T* x, T* y, Variant variant,
                    Stream& stream) {
  if (variant == Variant::naive)
    launch_naive<Reduce>(problem, include_padding, x, y, stream);
  else
    launch_vectorized<Reduce>(problem, include_padding, x, y, stream);
}

} // namespace

template <class T>
Variant run(Kind kind, const Problem& problem, const T* x, T* y, Variant variant, Stream& stream) {
  require_problem("pooling", problem);
  variant = resolved(variant);
  if (problem.planes() == 0) return variant;
  require(x != nullptr, "pooling: x is null; pass device memory");
  require(y != nullptr, "pooling: y is null; pass device memory");
  if (kind == Kind::max)
    launch_variant<Max>(problem, false, x, y, variant, stream);
  else
    launch_variant<Average>(problem, kind == Kind::average_include_padding, x, y, variant, stream);
  return variant;
}

template Variant run(Kind, const Problem&, const float*, float*, Variant, Stream&);
template Variant run(Kind, const Problem&, const f16*, f16*, Variant, Stream&);
template Variant run(Kind, const Problem&, const bf16*, bf16*, Variant, Stream&);

Work work(Dtype dtype, const Problem& problem) {
  const auto outputs = static_cast<double>(problem.outputs());
  const auto area = static_cast<double>(problem.vertical.kernel * problem.horizontal.kernel);
  return {.bytes = (static_cast<double>(problem.inputs()) + outputs) *
                   static_cast<double>(size_of(dtype)),
          .written = outputs * static_cast<double>(size_of(dtype)),
          .flops = outputs * area};
}

} // namespace kg::pooling
