// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Selects the kernels of pooling_backward. The lower bound is one read of dy, one write of dx and,
// for a maximum, one read of x.
#include "ops/pooling_backward/pooling_backward.h"

#include "ops/pooling_backward/choose_packs.h"
#include "ops/pooling_backward/gather.h"
#include "ops/pooling_backward/maximum_channels.h"
#include "ops/pooling_backward/maximum_rows.h"
#include "ops/pooling_backward/naive.h"
#include "ops/pooling_backward/planes.h"
#include "ops/pooling_backward/shares.h"
#include "ops/pooling_backward/tiles.h"
#include "ops/pooling_backward/whole_planes.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <string>
#include <utility>

namespace kg::pooling_backward {

using pooling::count_threads;
using pooling::Kind;
using pooling::Layout;
using pooling::Problem;

namespace {

unsigned grid_for(std::int64_t threads, int block = kThreads) {
  return grid_x(div_up(threads, block), "pooling_backward: the elements", "split the batch");
}

// The arguments of a call that the launches need.
template <class T>
struct Call {
  const Problem& problem;
  Geometry g;
  bool include_padding;
  const T *x, *dy;
  T* dx;
  std::uint8_t* choices;
  Stream& stream;

  LaunchConfig config(std::int64_t threads) const {
    return {.grid = grid_for(threads), .block = kThreads, .stream = &stream};
  }
};

constexpr const char* kVectorized = "pooling_backward: variant vectorized";

template <bool Maximum, class T>
void launch_naive(const Call<T>& call) {
  const std::int64_t inputs = call.problem.inputs();
  launch(naive<Maximum, T>, call.config(inputs), call.x, call.dy, call.dx, call.g,
         call.include_padding, count_threads("pooling_backward: variant naive", inputs));
}

// Calls `run` with the square of the windows if it is a common one; returns the result of `run`.
template <class Run>
bool with_square(const Problem& problem, Run run) {
  const auto is_square = [&]<Square square>() {
    return pooling::is(problem, square) && run.template operator()<square>();
  };
  return is_square.template operator()<Square{3, 2}>() ||
         is_square.template operator()<Square{3, 1}>() ||
         is_square.template operator()<Square{2, 2}>();
}

// Launches choose for a common square if a kernel exists. Its divisors are limited to 2^31.
template <class T, int Count>
bool chose_square(const Call<T>& call) {
  if (call.problem.outputs() >= pooling::kMostPlaneThreads) return false;
  return with_square(call.problem, [&]<Square square>() {
    if constexpr (Count > 1 && square.stride == 1) {
      const PackWindows windows = pooling::pack_windows_of<square>(call.g, Count, false);
      launch(choose_packs<T, square.kernel>,
             {.grid = grid_for(windows.threads, pooling::kPackThreads),
              .block = pooling::kPackThreads,
              .stream = &call.stream},
             call.x, call.choices, windows);
      return true;
    } else if constexpr (Count > 1) { // stride 2: maximum_channels.h
      return false;
    } else {
      if (call.g.inner > 1) return false;
      const pooling::PlaneWindows windows = pooling::plane_windows_of(call.g, false);
      launch(choose_planes<T, square.kernel, square.stride>, call.config(windows.threads), call.x,
             call.choices, windows);
      return true;
    }
  });
}

template <class T, int Count>
void launch_choose(const Call<T>& call) {
  if (chose_square<T, Count>(call)) return;
  const unsigned threads = count_threads(kVectorized, call.problem.outputs() / Count);
  launch(choose<T, Count>, call.config(threads), call.x, call.choices, call.g,
         static_cast<unsigned>(call.g.inner / Count), threads);
}

// Launches gather_tiles; returns false if there are too many tiles for the divisors.
template <bool Maximum, class T, Square square, int kPhase, Tile tile>
bool gathered_tiles(const Call<T>& call) {
  // Tiles begin at the start of a window, unless kPhase shifts them.
  const auto tiled = [&](const Line& line, int places, bool shifted) {
    return TiledAxis(line, call.include_padding, places, shifted ? line.before % places : 0);
  };
  const TiledAxis down = tiled(call.g.vertical, tile.down, true);
  const TiledAxis across = tiled(call.g.horizontal, tile.across, !tile.whole_rows());
  const NarrowDivisor packs(call.g.inner / tile.pack);
  const std::int64_t threads = call.g.outer * down.tiles.value * across.tiles.value * packs.value;
  if (threads >= pooling::kMostPlaneThreads) return false;
  launch(
      gather_tiles<Maximum, T, square.kernel, square.stride, kPhase, tile.down, tile.across,
                   tile.pack, tile.rows_at_once>,
      call.config(threads), call.dy, call.choices, call.dx,
      Tiles{down, across, packs, static_cast<unsigned>(threads), call.g.x_plane, call.g.y_plane});
  return true;
}

template <bool Maximum, class T, int Count, Square square>
bool gathered_square(const Call<T>& call) {
  constexpr bool kInTwoSteps = !Maximum || square.stride == 1; // else in one step
  if constexpr (Count > 1) {
    if constexpr (kInTwoSteps) return gathered_tiles<Maximum, T, square, 0, kTileOfPacks<T>>(call);
    return false;
  } else {
    if (call.g.inner > 1) return false;
    if constexpr (kInTwoSteps) {
      constexpr Tile kRows = kTileOfRows<Maximum, T>;
      if (call.problem.width % kRows.across == 0 && elements_to_boundary(call.dx) == 0) {
        const int phase = call.g.horizontal.before % square.stride;
        if (phase == 0) return gathered_tiles<Maximum, T, square, 0, kRows>(call);
        if constexpr (square.kernel > square.stride)
          return gathered_tiles<Maximum, T, square, square.stride - 1, kRows>(call);
      }
    }
    return gathered_tiles<Maximum, T, square, 0, kTileOfPairs>(call);
  }
}

// Gathers averages of whole planes; returns false for other windows and too many threads.
template <class T, int Count>
bool gathered_whole(const Call<T>& call) {
  if (!call.problem.is_global()) return false;
  const std::int64_t inputs = call.problem.inputs();
  const std::int64_t places = call.problem.height * call.problem.width;
  if (call.problem.layout == Layout::nchw) {
    constexpr int kPack = kPackElements<T>;
    const auto run = [&]<int kNeighbours>() {
      launch(gather_whole_planes<T, kNeighbours>,
             call.config(div_up(inputs, kNeighbours * kPlanePacks)), call.dy, call.dx,
             Divisor(places), inputs);
    };
    elements_to_boundary(call.dx) == 0 && places >= kPack ? run.template operator()<kPack>()
                                                          : run.template operator()<1>();
    return true;
  }
  const std::int64_t packs = call.problem.channels / Count;
  const std::int64_t parts = div_up(places, kPlacesAtOnce);
  const std::int64_t threads = call.problem.batch * parts * packs;
  if (threads >= pooling::kMostPlaneThreads) return false;
  launch(gather_whole_channels<T, Count>, call.config(threads), call.dy, call.dx,
         WholePlanes{places, NarrowDivisor(packs), NarrowDivisor(parts),
                     static_cast<unsigned>(threads)});
  return true;
}

// The geometry for pooling's kernels with input dy and output dx, for windows at stride 1.
Geometry turned(const Geometry& g) {
  const auto line = [](const Line& l) {
    return Line{l.out,    l.in,    l.kernel, 1, 1, l.kernel - 1 - l.before, l.kernel - 1 - l.after,
                l.y_step, l.x_step};
  };
  Geometry result = g;
  result.vertical = line(g.vertical);
  result.horizontal = line(g.horizontal);
  std::swap(result.x_plane, result.y_plane);
  return result;
}

// Adds an average's shares by pooling's kernels; returns whether these apply.
template <class T, int Count>
bool added_shares(const Call<T>& call) {
  constexpr Square kSquare{3, 1};
  using Reduce = Shares<T, kSquare.kernel>;
  if (!pooling::is(call.problem, kSquare) || call.problem.inputs() >= pooling::kMostPlaneThreads)
    return false;
  const auto counted = [&](const Line& line) {
    pooling::CountedLine moved(line, call.include_padding);
    moved.begin += line.before;
    moved.end += line.before;
    return moved;
  };
  const auto run = [&](auto kernel, int block, auto windows) {
    windows.counted_down = counted(call.g.vertical);
    windows.counted_across = counted(call.g.horizontal);
    launch(kernel,
           {.grid = grid_for(windows.threads, block),
            .block = static_cast<unsigned>(block),
            .stream = &call.stream},
           call.dy, call.dx, windows);
    return true;
  };
  const Geometry g = turned(call.g);
  if constexpr (Count > 1) {
    return run(pooling::pack_windows<Reduce, T, kSquare.kernel, kSquare.stride>,
               pooling::kPackThreads, pooling::pack_windows_of<kSquare>(g, Count, false));
  } else {
    constexpr int kPack = kPackElements<T>;
    if (call.problem.layout != Layout::nchw || g.horizontal.in != g.horizontal.out ||
        g.horizontal.out % kPack != 0 || g.horizontal.before != 1 ||
        elements_to_boundary(call.dy) != 0 || elements_to_boundary(call.dx) != 0)
      return false;
    return run(pooling::row_windows<Reduce, T, kSquare.kernel, kSquare.stride>,
               pooling::kRowThreads, pooling::row_windows_of<kSquare>(g, kPack, false));
  }
}

template <bool Maximum, class T, int Count>
void launch_gather(const Call<T>& call) {
  const Geometry& g = call.g;
  if constexpr (!Maximum)
    if (gathered_whole<T, Count>(call) || added_shares<T, Count>(call)) return;
  if (with_square(call.problem, [&]<Square square>() {
        return gathered_square<Maximum, T, Count, square>(call);
      }))
    return;
  const Gathered down(g.vertical, call.include_padding);
  const Gathered across(g.horizontal, call.include_padding);
  const NarrowDivisor columns(g.horizontal.in);
  const NarrowDivisor rows(g.vertical.in);
  const std::int64_t inputs = call.problem.inputs();
  if constexpr (Maximum) {
    constexpr int kWhole = kPackElements<T>;
    if (call.problem.layout == Layout::nchw && elements_to_boundary(call.dx) == 0) {
      count_threads(kVectorized, inputs);
      launch(gather_planes<T, kWhole>, call.config(div_up(inputs, kWhole)), call.dy, call.choices,
             call.dx, Planes{down, across, columns, rows, inputs, g.y_plane});
      return;
    }
  }
  const unsigned threads = count_threads(kVectorized, inputs / Count);
  launch(gather<Maximum, T, Count>, call.config(threads), call.dy, call.choices, call.dx,
         Elements{down, across, NarrowDivisor(g.inner / Count), columns, rows, threads, g.y_plane});
}

// Computes dx of maxima in one kernel if windows hardly overlap, for packs of channels or rows of
// whole packs. Returns whether it applies.
template <class T, int Count>
bool handed_to_maxima(const Call<T>& call) {
  const Geometry& g = call.g;
  constexpr int kPack = kPackElements<T>;
  if (std::max(g.x_plane, g.y_plane) >= pooling::kMostPlaneThreads) return false;
  if (Count == 1 && (call.problem.layout != Layout::nchw || call.problem.width % kPack != 0 ||
                     elements_to_boundary(call.x) != 0 || elements_to_boundary(call.dx) != 0))
    return false;
  const auto run = [&](auto kernel, const Strips& strips) {
    if (strips.threads >= pooling::kMostPlaneThreads) return false;
    launch(kernel,
           {.grid = grid_for(strips.threads, kMaximumThreads),
            .block = kMaximumThreads,
            .stream = &call.stream},
           call.x, call.dy, call.dx, strips);
    return true;
  };
  return with_square(call.problem, [&]<Square square>() {
    if constexpr (square.stride != kMaximumStride)
      return false;
    else if constexpr (Count > 1)
      return run(maximum_channels<T, square.kernel>, strips_of_channels<square.kernel>(g, Count));
    else
      return run(g.horizontal.before % 2 == 0 ? maximum_rows<T, square.kernel, 0>
                                              : maximum_rows<T, square.kernel, 1>,
                 strips_of_rows<square.kernel>(g, kPack));
  });
}

template <bool Maximum, class T, int Count>
void launch_vectorized(const Call<T>& call) {
  if constexpr (Maximum) {
    if (handed_to_maxima<T, Count>(call)) return;
    launch_choose<T, Count>(call);
  }
  launch_gather<Maximum, T, Count>(call);
}

template <bool Maximum, class T>
void launch_variant(const Call<T>& call, Variant variant) {
  if (variant == Variant::naive) return launch_naive<Maximum>(call);
  constexpr int kCount = kPackElements<T>;
  const bool packs = call.problem.layout == Layout::nhwc && call.problem.channels % kCount == 0 &&
                     elements_to_boundary(call.dy) == 0 && elements_to_boundary(call.dx) == 0 &&
                     (!Maximum || elements_to_boundary(call.x) == 0);
  packs ? launch_vectorized<Maximum, T, kCount>(call) : launch_vectorized<Maximum, T, 1>(call);
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
  const Call<T> call{problem,
                     Geometry(problem),
                     kind == Kind::average_include_padding,
                     x,
                     dy,
                     dx,
                     static_cast<std::uint8_t*>(workspace),
                     stream};
  kind == Kind::max ? launch_variant<true>(call, variant) : launch_variant<false>(call, variant);
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
