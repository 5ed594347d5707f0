// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant implicit_gemm, f16 and bf16: multiplies weights and columns with gemm's MMA
// tiles, in three shapes of output channels of a group by positions of y: square 128 x 128, narrow
// 64 x 256 for groups with few output channels, and wide 256 x 128 for many. Three slices of 32
// steps of k (four for wide tiles) are in shared memory.
//
// Both operands are contiguous along k: a line of a slice is a filter, or a position's window. In
// nhwc, cp.async copies them (copies.h), by 16, 8 or 4 bytes as the channels of a group and the
// alignment permit, and fills padding with zeros. An odd number of channels is copied element by
// element through registers. Copies below 16 bytes use narrow tiles, since layers with few input
// channels usually have few output channels. In nchw, a thread gathers 8 steps of k of 4 positions
// element by element, several times slower; weights are copied like an operand of gemm.
//
// Bytes: as implicit_gemm.cu, at half the size. Limits of an H200's multiprocessor per slice of 32
// steps, in flops per clock; its Tensor Cores do 2,577 with mma (gemm_mma.cu):
//   tile    bytes of L2   at 38.8 per clock   shared wavefronts   flops per wavefront
//   narrow  20 KiB        1,987               416                 2,521
//   square  16 KiB        2,483               384                 2,731
//   wide    24 KiB        3,311               704                 2,979
// With 64 channels, half of a square tile's warps would be idle: 1,288. Why not 64 x 128 with two
// warps: 12 KiB for half the work, 1,655. Why not through L1, which holds the next tap's data: each
// copy would add a wavefront to a unit nearly as busy as L2. Expected on an H200, not measured: 45
// % of the dense Tensor Core peak for 64 channels, 55 % for 256. Sectors requested with 12, 10 and
// 3 channels and 32 outputs of 3x3: 2447, 2642 and 1769; by single elements 13476, 9422 and 3813.
#include "ops/conv2d/copies.h"
#include "ops/conv2d/gathered.h"
#include "ops/conv2d/pieces.h"
#include "ops/conv2d/variants.h"
#include "ops/gemm/mma_slice.h"
#include "ops/gemm/mma_tile.h"
#include "ops/gemm/mma_walk.h"
#include "ops/gemm/shared_sums.h"

#include "instructions/store_shared.h"
#include "primitives/pack.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>

namespace kg::conv2d {

// Rows are positions and columns channels; square tiles in nchw are transposed.
inline constexpr gemm::MmaTile kNarrow{.m = 256, .n = 64, .slices = 3};
static_assert(kNarrow.fits() && gemm::kMma.m == gemm::kMma.n);

constexpr gemm::MmaTile tile_of(MmaTiles tiles) {
  return tiles == MmaTiles::wide     ? gemm::kWideMma
         : tiles == MmaTiles::narrow ? kNarrow
                                     : gemm::kMma;
}

template <bool kChannelsLast>
__device__ __forceinline__ Step step_at(int k, const Gathered& g) {
  auto rest = static_cast<std::uint32_t>(k);
  int channel = 0;
  if constexpr (kChannelsLast) channel = static_cast<int>(g.channels_of_group.take_last(rest));
  const auto column = static_cast<int>(g.kernel_columns.take_last(rest));
  int row = static_cast<int>(rest);
  if constexpr (!kChannelsLast) {
    row = static_cast<int>(g.kernel_rows.take_last(rest));
    channel = static_cast<int>(rest);
  }
  return {channel, row, column};
}

// Offset of the element of the window at a step of k; -1: no such element.
__device__ __forceinline__ std::int64_t offset_of(const Start& start, const Step& step,
                                                  const Gathered& g) {
  const int row = step.row * g.vertical.dilation;
  const int column = step.column * g.horizontal.dilation;
  const bool exists = step.channel < g.group_inputs && step.row < g.vertical.kernel;
  const bool inside = is_inside(static_cast<unsigned>(start.row + row), g.vertical.in) &&
                      is_inside(static_cast<unsigned>(start.column + column), g.horizontal.in);
  if (!exists || !inside) return -1;
  return start.offset() + step.channel * g.x.channel + row * g.vertical.x_step +
         column * g.horizontal.x_step;
}

// Gathers a slice of windows in nhwc, element by element.
template <class Slice, class T>
__device__ __forceinline__ void gather_elements_last(const Gathered& g, const T* x,
                                                     const Start* starts, int k0, T* slice) {
  using Own = Pieces<Slice, 1>;
  const Step step = step_at<true>(k0 + Own::element(), g);
  Own::fetch(
      x,
      [&](int line) __attribute__((always_inline)) {
        const Start start = starts[line];
        return offset_of(start, step, g);
      },
      slice);
}

// The same in nchw: 8 steps of k of one position.
template <class Slice, class T>
__device__ __forceinline__ void gather_elements(const Gathered& g, const T* x, const Start* starts,
                                                int k0, T* slice) {
  const int chunk = static_cast<int>(threadIdx.x) % Slice::kChunks;
  const Step first = step_at<false>(k0 + chunk * Slice::kChunk, g);
  KG_UNROLL
  for (int i = 0; i < Slice::kLines / Slice::kStep; ++i) {
    const int line = static_cast<int>(threadIdx.x) / Slice::kChunks + i * Slice::kStep;
    const Start start = starts[line];
    Pack<T, Slice::kChunk> elements;
    Step step = first;
    KG_UNROLL
    for (int e = 0; e < Slice::kChunk; ++e) {
      const std::int64_t offset = offset_of(start, step, g);
      elements.element[e] = offset < 0 ? from_float<T>(0) : x[offset];
      advance<false, 1>(step, g);
    }
    ptx::store_shared(reinterpret_cast<Pack<T, Slice::kChunk>*>(slice + Slice::place(line, chunk)),
                      elements);
  }
}

// Copies the weights' slice in nhwc by pieces, where Slice::fetch needs whole vectors.
template <class Slice, class T>
__device__ __forceinline__ void fetch_filters(const gemm::MmaOperand<T>& filters, int depth,
                                              T* slice) {
  using Own = Pieces<Slice, 1>;
  const int element = Own::element();
  Own::fetch(
      filters.data,
      [&](int line) __attribute__((always_inline)) {
        const bool exists = line < filters.outer && element < depth;
        return exists ? line * filters.leading + element : std::int64_t{-1};
      },
      slice);
}

// The window of the tile's position number `index`, which may not exist.
__device__ __forceinline__ Start start_of(const Gathered& g, const OutputTile& tile, int index) {
  const WindowPlace window = window_place(g, tile.place0 + index);
  return Start::at(window.image * g.x.outer + tile.group * g.group_inputs * g.x.channel +
                       window.row * g.vertical.x_step + window.column * g.horizontal.x_step,
                   index < tile.places ? window.row : kOutside, window.column);
}

// kWidth: elements per copy of x and of the weights in nhwc, all aligned and whole. vector_weights:
// 16-byte accesses to the weights in nchw are aligned; packs: y consists of whole vectors.
template <class T, bool kChannelsLast, int kWidth, MmaTiles kTiles>
__global__ void __launch_bounds__(tile_of(kTiles).threads(), kTiles == MmaTiles::wide ? 1 : 2)
    implicit_gemm_mma(const T* __restrict__ x, const T* __restrict__ weights,
                      const T* __restrict__ bias, T* __restrict__ y, Gathered g,
                      bool vector_weights, bool packs) {
  constexpr gemm::MmaTile kTile = tile_of(kTiles);
  constexpr int kChannels = kChannelsLast ? kTile.n : kTile.m;
  constexpr int kPlaces = kChannelsLast ? kTile.m : kTile.n;
  using SliceA = gemm::MmaSlice<T, kTile.m, gemm::kDepth<T>, true, kTile.threads()>;
  using SliceB = gemm::MmaSlice<T, kTile.n, gemm::kDepth<T>, true, kTile.threads()>;
  Start* const starts = dynamic_shared<Start>(kTile.shared_bytes()); // after the slices
  const OutputTile tile = output_tile(g, kChannels, kPlaces);
  KG_UNROLL
  for (int i = static_cast<int>(threadIdx.x); i < kPlaces; i += kTile.threads())
    starts[i] = start_of(g, tile, i);
  __syncthreads();

  const int rows = kChannelsLast ? tile.places : tile.channels;
  const gemm::WarpPart own =
      gemm::warp_part<kTile>(rows, kChannelsLast ? tile.channels : tile.places);
  const T* const of_tile = weights + tile.channel0 * g.depth;
  gemm::WarpSum sum = {};
  if constexpr (kWidth > 1) {
    T* const slices = dynamic_shared<T>();
    WindowCopies<T, SliceA, kWidth> windows(g, x, starts, slices);
    FilterCopies<T, SliceB, kWidth> filters(of_tile, g.depth, tile.channels,
                                            slices + SliceA::kElements);
    gemm::multiply_whole<T, SliceA, SliceB, kTile>(g.depth, own, windows, filters, sum);
  } else {
    gemm::MmaOperand<T> filters{of_tile, g.depth, tile.channels, vector_weights};
    const auto fetch = [&](int slice, int depth, T* a, T* b) __attribute__((always_inline)) {
      const int k0 = slice * gemm::kDepth<T>;
      if constexpr (kChannelsLast) {
        fetch_filters<SliceB>(filters, depth, b);
        gather_elements_last<SliceA>(g, x, starts, k0, a);
      } else {
        SliceA::fetch(filters, depth, a);
        gather_elements<SliceB>(g, x, starts, k0, b);
      }
      filters.data += gemm::kDepth<T>;
    };
    gemm::multiply_slices<T, SliceA, SliceB, kTile>(g.depth, own, fetch, sum);
  }
  gemm::each_half<kTile>(
      sum, own, rows, [&](int first, int some, const float* half) __attribute__((always_inline)) {
        const auto write_packs = [&]<int kCount>() __attribute__((always_inline)) {
          write<kChannelsLast, kTile.n, kTile.threads(), kCount>(
              g, tile, bias, y, first,
              some, [&](int row, int column) __attribute__((always_inline)) {
                return gemm::sums_at<kCount>(half + row * kTile.pitch() + column, column / kCount);
              });
        };
        packs ? write_packs.template operator()<kPackElements<T>>()
              : write_packs.template operator()<1>();
      });
}

namespace {

template <class T, bool kChannelsLast, int kWidth, MmaTiles kTiles>
void launch_implicit(const Problem<T>& p, Stream& stream) {
  constexpr gemm::MmaTile kTile = tile_of(kTiles);
  constexpr int kPlaces = kChannelsLast ? kTile.m : kTile.n;
  const Gathered g = gathered(p.geometry, kChannelsLast ? kTile.n : kTile.m, kPlaces);
  // Contiguous elements of y: channels of a group, or positions of an image.
  const std::int64_t in_line = kChannelsLast ? p.geometry.group_outputs() : p.geometry.out_places();
  launch(implicit_gemm_mma<T, kChannelsLast, kWidth, kTiles>,
         {.grid = grid_x(g.tiles, "conv2d: the tiles of y", "split the batch"),
          .block = dim3(static_cast<unsigned>(kTile.threads())),
          .shared_bytes = kTile.shared_bytes() + kPlaces * sizeof(Start),
          .stream = &stream},
         p.x, p.weights, p.bias, p.y, g, widest_access(g.depth, p.weights) == kPackElements<T>,
         widest_access(in_line, p.y) == kPackElements<T>);
}

// Width of copies of x and of the weights.
template <class T>
int width_of(const Problem<T>& p) {
  const std::int64_t inputs = p.geometry.group_inputs();
  const int width = std::min(widest_access(inputs, p.x), widest_access(inputs, p.weights));
  constexpr int kPack = kPackElements<T>;
  return width == kPack && !windows_are_near<kPack>(p.geometry, kNarrow.m) ? kPack / 2 : width;
}

bool has_wide_tiles() {
  return device_properties().shared_bytes_per_block_optin >=
         gemm::kWideMma.shared_bytes() + gemm::kWideMma.m * sizeof(Start);
}

} // namespace

template <class T>
MmaTiles tiles_of_mma(const Problem<T>& p) {
  const Geometry& g = p.geometry;
  if (g.layout == Layout::nchw) return MmaTiles::square;
  if (width_of(p) != kPackElements<T>) return MmaTiles::narrow;
  if (p.tiles == MmaTiles::wide) return has_wide_tiles() ? MmaTiles::wide : MmaTiles::square;
  if (p.tiles != MmaTiles::automatic) return p.tiles;
  // A multiprocessor takes equal time for narrow and square tiles, and twice as long for a wide
  // tile, since only one is resident (gemm_mma.cu says when wide tiles pay).
  constexpr std::int64_t kLeastDepthOfWide = 2048;
  const std::int64_t places = g.batch * g.out_places();
  const auto rounds = [&](MmaTiles tiles) {
    const gemm::MmaTile tile = tile_of(tiles);
    return div_up(div_up(places, tile.m) * div_up(g.group_outputs(), tile.n) * g.groups,
                  device_properties().sm_count);
  };
  const std::int64_t of_square = rounds(MmaTiles::square), of_narrow = rounds(MmaTiles::narrow);
  const std::int64_t least = std::min(of_square, of_narrow);
  if (has_wide_tiles() && g.depth() >= kLeastDepthOfWide && 2 * rounds(MmaTiles::wide) <= least)
    return MmaTiles::wide;
  // For equal numbers of waves, square tiles: a small problem then has more blocks, which load in
  // parallel.
  return of_narrow < of_square ? MmaTiles::narrow : MmaTiles::square;
}

template <class T>
void run_implicit_gemm_mma(const Problem<T>& p, Stream& stream) {
  constexpr int kPack = kPackElements<T>;
  if (p.geometry.layout == Layout::nchw)
    return launch_implicit<T, false, 1, MmaTiles::square>(p, stream);
  switch (width_of(p)) {
  case kPack: break;
  case 4: return launch_implicit<T, true, 4, MmaTiles::narrow>(p, stream);
  case 2: return launch_implicit<T, true, 2, MmaTiles::narrow>(p, stream);
  default: return launch_implicit<T, true, 1, MmaTiles::narrow>(p, stream);
  }
  switch (tiles_of_mma(p)) {
  case MmaTiles::wide: return launch_implicit<T, true, kPack, MmaTiles::wide>(p, stream);
  case MmaTiles::narrow: return launch_implicit<T, true, kPack, MmaTiles::narrow>(p, stream);
  default: return launch_implicit<T, true, kPack, MmaTiles::square>(p, stream);
  }
}

template MmaTiles tiles_of_mma(const Problem<f16>&);
template MmaTiles tiles_of_mma(const Problem<bf16>&);

template void run_implicit_gemm_mma(const Problem<f16>&, Stream&);
template void run_implicit_gemm_mma(const Problem<bf16>&, Stream&);

} // namespace kg::conv2d
