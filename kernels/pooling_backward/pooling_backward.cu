// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which kernels of pooling_backward run. The floor is one read of dy, one write of dx and, for a
// maximum, one read of x.
#include "pooling_backward/pooling_backward.h"

#include "pooling_backward/gather.h"
#include "pooling_backward/planes.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <string>

namespace kg::pooling_backward {

using pooling::count_threads;
using pooling::Kind;
using pooling::Layout;
using pooling::Problem;

// Whether the maximum of the window at (i, j) is its tap (tap_down, tap_across). `x` points to the
// channel of the outer plane.
template <class T>
__device__ bool is_maximum(const T* x, const Geometry& g, int i, int j, int tap_down,
                           int tap_across) {
  const Taps down = pooling::taps_of(g.vertical, i);
  const Taps across = pooling::taps_of(g.horizontal, j);
  int first_down = down.first;
  int first_across = across.first;
  float most = pooling::Max::kIdentity;
  for (int u = down.first; u < down.end; ++u) {
    const std::int64_t row = (down.start + u * g.vertical.dilation) * g.vertical.x_step;
    for (int v = across.first; v < across.end; ++v) {
      const std::int64_t column = (across.start + v * g.horizontal.dilation) * g.horizontal.x_step;
      const float value = to_float(x[row + column]);
      if (!exceeds(value, most)) continue;
      most = value;
      first_down = u;
      first_across = v;
    }
  }
  return first_down == tap_down && first_across == tap_across;
}

template <bool Maximum, class T>
__global__ void __launch_bounds__(kThreads)
    naive(const T* x, const T* dy, T* dx, Geometry g, bool include_padding, unsigned inputs) {
  const unsigned index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= inputs) return;
  const Place at =
      place_of(index, static_cast<unsigned>(g.inner), 1, g.horizontal.in, g.vertical.in);
  const Windows down = windows_over(g.vertical, at.row);
  const Windows across = windows_over(g.horizontal, at.column);
  float sum = 0;
  for (int i = down.first; i < down.end; ++i) {
    const int tap_down = tap_at(g.vertical, i, at.row);
    if (tap_down < 0) continue;
    for (int j = across.first; j < across.end; ++j) {
      const int tap_across = tap_at(g.horizontal, j, at.column);
      if (tap_across < 0) continue;
      const float value = to_float(
          dy[at.outer * g.y_plane + i * g.vertical.y_step + j * g.horizontal.y_step + at.inner]);
      if constexpr (Maximum) {
        if (is_maximum(x + (at.outer * g.x_plane + at.inner), g, i, j, tap_down, tap_across))
          sum += value;
      } else {
        sum += value / divisor(g, i, j, include_padding);
      }
    }
  }
  dx[index] = from_float<T>(sum);
}

namespace {

unsigned grid_for(std::int64_t threads) {
  return grid_x(div_up(threads, kThreads), "pooling_backward: the elements", "split the batch");
}

template <bool Maximum, class T>
void launch_naive(const Problem& problem, bool include_padding, const T* x, const T* dy, T* dx,
                  Stream& stream) {
  launch(naive<Maximum, T>,
         {.grid = grid_for(problem.inputs()), .block = kThreads, .stream = &stream}, x, dy, dx,
         Geometry(problem), include_padding,
         count_threads("pooling_backward: variant naive", problem.inputs()));
}

// Whether one of the kernels that know their windows has run. Their divisors count to 2^31.
template <class T>
bool chose_planes(const Problem& problem, const T* x, std::uint8_t* choices, Stream& stream) {
  if (problem.outputs() >= pooling::kMostPlaneThreads) return false;
  const auto run = [&]<Square square>() {
    if (!pooling::is(problem, square)) return false;
    const pooling::PlaneWindows windows = pooling::plane_windows_of(Geometry(problem), false);
    launch(choose_planes<T, square.kernel, square.stride>,
           {.grid = grid_for(windows.threads), .block = kThreads, .stream = &stream}, x, choices,
           windows);
    return true;
  };
  return run.template operator()<Square{3, 2}>() || run.template operator()<Square{3, 1}>() ||
         run.template operator()<Square{2, 2}>();
}

template <class T>
void launch_planes(const Problem& problem, const T* x, const T* dy, T* dx, std::uint8_t* choices,
                   Stream& stream) {
  constexpr int kCount = kPackElements<T>;
  constexpr const char* kWhat = "pooling_backward: variant vectorized";
  const Geometry g(problem);
  count_threads(kWhat, problem.inputs());
  if (!chose_planes(problem, x, choices, stream)) {
    const unsigned threads = count_threads(kWhat, problem.outputs());
    launch(choose<T, 1>, {.grid = grid_for(threads), .block = kThreads, .stream = &stream}, x,
           choices, g, 1U, threads);
  }
  launch(gather_planes<T, kCount>,
         {.grid = grid_for(div_up(problem.inputs(), kCount)), .block = kThreads, .stream = &stream},
         dy, choices, dx,
         Planes{Gathered(g.vertical, false), Gathered(g.horizontal, false),
                NarrowDivisor(g.horizontal.in), NarrowDivisor(g.vertical.in), problem.inputs(),
                g.y_plane});
}

template <bool Maximum, class T, int Count>
void launch_vectorized(const Problem& problem, bool include_padding, const T* x, const T* dy, T* dx,
                       std::uint8_t* choices, Stream& stream) {
  constexpr const char* kWhat = "pooling_backward: variant vectorized";
  const Geometry g(problem);
  const auto packs = static_cast<unsigned>(g.inner / Count);
  if constexpr (Maximum) {
    const unsigned threads = count_threads(kWhat, problem.outputs() / Count);
    launch(choose<T, Count>, {.grid = grid_for(threads), .block = kThreads, .stream = &stream}, x,
           choices, g, packs, threads);
  }
  const unsigned threads = count_threads(kWhat, problem.inputs() / Count);
  launch(gather<Maximum, T, Count>,
         {.grid = grid_for(threads), .block = kThreads, .stream = &stream}, dy, choices, dx,
         Elements{Gathered(g.vertical, include_padding), Gathered(g.horizontal, include_padding),
                  NarrowDivisor(packs), NarrowDivisor(g.horizontal.in),
                  NarrowDivisor(g.vertical.in), threads, g.y_plane});
}

template <bool Maximum, class T>
void launch_variant(const Problem& problem, bool include_padding, const T* x, const T* dy, T* dx,
                    std::uint8_t* choices, Variant variant, Stream& stream) {
  if (variant == Variant::naive)
    return launch_naive<Maximum>(problem, include_padding, x, dy, dx, stream);
  constexpr int kCount = kPackElements<T>;
  if constexpr (Maximum) {
    if (problem.layout == Layout::nchw && elements_to_boundary(dx) == 0)
      return launch_planes(problem, x, dy, dx, choices, stream);
  }
  const bool packs = problem.layout == Layout::nhwc && problem.channels % kCount == 0 &&
                     elements_to_boundary(dy) == 0 && elements_to_boundary(dx) == 0 &&
                     (!Maximum || elements_to_boundary(x) == 0);
  packs
      ? launch_vectorized<Maximum, T, kCount>(problem, include_padding, x, dy, dx, choices, stream)
      : launch_vectorized<Maximum, T, 1>(problem, include_padding, x, dy, dx, choices, stream);
}

} // namespace

bool supports(Variant variant, Kind kind, const Problem& problem) {
  return variant != Variant::vectorized || kind != Kind::max ||
         problem.vertical.kernel * problem.horizontal.kernel <= kMostPlaces;
}

Variant resolved(Variant variant, Kind kind, const Problem& problem) {
  if (variant != Variant::automatic) return variant;
  return supports(Variant::vectorized, kind, problem) ? Variant::vectorized : Variant::naive;
}

std::size_t workspace_bytes(Variant variant, Kind kind, const Problem& problem) {
  if (resolved(variant, kind, problem) == Variant::naive || kind != Kind::max) return 0;
  return static_cast<std::size_t>(div_up(problem.outputs(), kPackBytes) * kPackBytes);
}

template <class T>
Variant run(Kind kind, const Problem& problem, const T* x, const T* dy, T* dx, void* workspace,
            Variant variant, Stream& stream) {
  pooling::require_problem("pooling_backward", problem);
  variant = resolved(variant, kind, problem);
  require(supports(variant, kind, problem),
          "pooling_backward: variant vectorized finds maxima of at most " +
              std::to_string(kMostPlaces) + " taps, not " +
              std::to_string(problem.vertical.kernel * problem.horizontal.kernel) + "; use naive");
  if (problem.planes() == 0) return variant;
  require(x != nullptr || kind != Kind::max, "pooling_backward: x is null; pass device memory");
  require(dy != nullptr, "pooling_backward: dy is null; pass device memory");
  require(dx != nullptr, "pooling_backward: dx is null; pass device memory");
  const std::size_t needed = workspace_bytes(variant, kind, problem);
  require(needed == 0 || workspace != nullptr,
          "pooling_backward: workspace is null; pass workspace_bytes() = " +
              std::to_string(needed) + " bytes of device memory");
  auto* const choices = static_cast<std::uint8_t*>(workspace);
  if (kind == Kind::max)
    launch_variant<true>(problem, false, x, dy, dx, choices, variant, stream);
  else
    launch_variant<false>(problem, kind == Kind::average_include_padding, x, dy, dx, choices,
                          variant, stream);
  return variant;
}

template Variant run(Kind, const Problem&, const float*, const float*, float*, void*, Variant,
                     Stream&);
template Variant run(Kind, const Problem&, const f16*, const f16*, f16*, void*, Variant, Stream&);
template Variant run(Kind, const Problem&, const bf16*, const bf16*, bf16*, void*, Variant,
                     Stream&);

Work work(Dtype dtype, Kind kind, const Problem& problem) {
  const auto inputs = static_cast<double>(problem.inputs());
  const auto outputs = static_cast<double>(problem.outputs());
  const auto area = static_cast<double>(problem.vertical.kernel * problem.horizontal.kernel);
  return {.bytes = (inputs * (kind == Kind::max ? 2 : 1) + outputs) *
                   static_cast<double>(size_of(dtype)),
          .written = inputs * static_cast<double>(size_of(dtype)),
          .flops = outputs * area};
}

} // namespace kg::pooling_backward
