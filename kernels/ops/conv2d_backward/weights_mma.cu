// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d_backward, variant implicit_gemm of the weights, f16 and bf16: the product, parts and sums
// of weights.cu with gemm's MMA tiles. A tile has 128 output channels of a group by 128 elements of
// a filter, with three slices of 32 positions in shared memory. If this pads less, as with 64
// output channels, tiles are 64 by 256.
//
// In nhwc, if the channels of both operands are whole 16-byte vectors, gemm's main loop multiplies
// (weight_tiles_packs). Threads then look up the windows of their vectors of x in a table
// (tap_copies.h). Otherwise the kernel advances from position to position (weight_tiles_mma).
//
// In nhwc both operands are contiguous along channels, and a line of a slice is a position. A
// thread copies the same piece of every n-th position of x, and of dy if dy's channels are not
// whole vectors. Pieces have 8, 4 or 2 elements as channels and alignment permit
// (ops/conv2d/pieces.h), copied by cp.async, with zeros for taps in the padding. An odd number of
// channels is copied element by element through registers. dy of whole vectors is copied by gemm as
// a matrix. In nchw dy is contiguous along positions; if an image's positions are whole vectors, it
// is copied by gemm with one row per channel. The windows of x, and operands that are misaligned or
// not whole vectors, pass element by element through registers, several times slower. There a
// thread handles one position, so that a warp reads 32 neighbours at a time. All lanes need the
// same element of a filter and look up its tap in shared memory.
//
// Bytes: as weights.cu, at half the size; 32 * (128 + 128) elements per 128 * 128 * 32
// multiply-adds, for 64 by 256 a quarter more. Flops: 2 per product, including padding of the
// tiles. For the tiles' limits see ops/conv2d/implicit_gemm_mma.cu, square and narrow. Expected on
// an H200, not measured, of the dense Tensor Core peak: 50 % in nhwc from 128 output channels on,
// 45 % for 64, 10 % in nchw. Sectors requested in nhwc with 12, 10 and 3 channels and 32 outputs of
// 3x3: 3634, 3649 and 1822; with one position per thread, 20792, 14916 and 3348. Why not ldmatrix
// from x itself, without a copy per tap: its rows would not be aligned to 16 bytes.
#include "ops/conv2d/pieces.h"
#include "ops/conv2d_backward/tap_copies.h"
#include "ops/conv2d_backward/weight_tiles.h"
#include "ops/gemm/mma_slice.h"
#include "ops/gemm/mma_tile.h"
#include "ops/gemm/mma_walk.h"
#include "ops/gemm/shared_sums.h"

#include "instructions/store_shared.h"
#include "primitives/pack.h"
#include "primitives/row.h"
#include "runtime/device.h"

namespace kg::conv2d_backward {

static_assert(gemm::kMma.m == gemm::kMma.n && gemm::kMma.threads() == gemm::kMma.m,
              "a thread has a tap, and writes a column");
inline constexpr int kMmaExtent = gemm::kMma.m;
inline constexpr int kMmaThreads = gemm::kMma.threads();
template <class T, bool kAlongPlaces>
using WeightSlice = gemm::MmaSlice<T, kMmaExtent, gemm::kDepth<T>, kAlongPlaces, kMmaThreads>;

// Gathers a slice whose lines are positions. element(i): element i of the thread's position.
template <class T, class Element>
__device__ __forceinline__ void gather_elements(T* slice, const Element& element) {
  using Slice = WeightSlice<T, false>;
  constexpr int kTogether = kMmaThreads / Slice::kLines; // chunks per position
  const int line = static_cast<int>(threadIdx.x) % Slice::kLines;
  const int first = static_cast<int>(threadIdx.x) / Slice::kLines;
  KG_UNROLL
  for (int i = 0; i < Slice::kChunks / kTogether; ++i) {
    const int chunk = first + i * kTogether;
    Pack<T, Slice::kChunk> elements;
    KG_UNROLL
    for (int e = 0; e < Slice::kChunk; ++e)
      elements.element[e] = element(chunk * Slice::kChunk + e);
    ptx::store_shared(reinterpret_cast<Pack<T, Slice::kChunk>*>(slice + Slice::place(line, chunk)),
                      elements);
  }
}

// kWidth: elements per copy: in nhwc of x, and of dy unless packs_of_dy; in nchw of dy, a whole
// vector or 1. sums: parts x out_channels x elements of a filter.
template <class T, bool kChannelsLast, int kWidth>
__global__ void __launch_bounds__(kMmaThreads, 2)
    weight_tiles_mma(const T* __restrict__ dy, const T* __restrict__ x, float* __restrict__ sums,
                     WeightTiles w, bool packs_of_dy) {
  constexpr bool kPlacesInPacks = !kChannelsLast && kWidth == kPackElements<T>; // of dy
  constexpr int kPlaces = gemm::kDepth<T>;                                      // per slice
  using OfDy = WeightSlice<T, kPlacesInPacks>;
  using OfX = WeightSlice<T, false>;
  using Own = conv2d::Pieces<OfX, kWidth>; // of x in nhwc
  const auto thread = static_cast<int>(threadIdx.x);
  const TilePart part = tile_part(w, kMmaExtent, kMmaExtent);
  const int outputs = part.outputs < kMmaExtent ? part.outputs : kMmaExtent;
  const int elements = part.elements < kMmaExtent ? part.elements : kMmaExtent;
  dy += part.output0 * w.y.channel;
  x += static_cast<std::int64_t>(part.group) * w.filter.channels * w.x.channel;

  // Line of the thread's element, or of its first piece, in a slice.
  const int line = kChannelsLast ? Own::line() : thread % OfX::kLines;
  const int chunk_of_dy = kPlacesInPacks ? thread % OfDy::kChunks * OfDy::kChunk : 0;
  Walk walk = walk_from(part.place0 + line, w);
  Walk walk_of_dy = walk_from(part.place0 + chunk_of_dy, w);
  const Tap own = tap_at(part.element0 + (kChannelsLast ? Own::element() : thread), w);
  Tap* const taps = dynamic_shared<Tap>(gemm::kMma.shared_bytes()); // after the slices
  if constexpr (!kChannelsLast) {
    taps[thread] = own;
    __syncthreads();
  }

  const auto fetch_dy = [&](int slice, int places, T* to) __attribute__((always_inline)) {
    if constexpr (kChannelsLast) {
      // Copies single elements of dy if x has whole vectors.
      using OwnDy = conv2d::Pieces<OfDy, kWidth == kPackElements<T> ? 1 : kWidth>;
      const T* const from = dy + (part.place0 + slice * std::int64_t{kPlaces}) * w.y.column;
      if (packs_of_dy)
        OfDy::fetch({from, w.y.column, outputs, true}, places, to);
      else
        OwnDy::fetch(
            from,
            [&](int place) __attribute__((always_inline)) {
              const bool exists = place < places && OwnDy::element() < outputs;
              return exists ? place * w.y.column + OwnDy::element() : std::int64_t{-1};
            },
            to);
    } else if constexpr (kPlacesInPacks) {
      // The start the line would have if all of it were in the chunk's image.
      OfDy::fetch({dy + (offset_in_dy(walk_of_dy, w) - chunk_of_dy), w.y.channel, outputs, true},
                  places, to);
      advance(walk_of_dy, kPlaces, w);
    } else {
      const T* const from = dy + offset_in_dy(walk, w);
      const int exist = line < places ? outputs : 0;
      gather_elements(
          to, [&](int i) __attribute__((always_inline)) {
            return i < exist ? from[i * w.y.channel] : from_float<T>(0);
          });
    }
  };
  const auto fetch_x = [&](int places, T* to) __attribute__((always_inline)) {
    if constexpr (kChannelsLast) {
      Own::fetch(
          x,
          [&](int place) __attribute__((always_inline)) {
            const bool inside = place < places && is_inside(own, walk, w);
            const std::int64_t offset = inside ? offset_in_x(walk, w) + own.offset : -1;
            advance(walk, Own::kStep, w);
            return offset;
          },
          to);
    } else {
      const T* const from = x + offset_in_x(walk, w);
      gather_elements(
          to, [&](int i) __attribute__((always_inline)) {
            const Tap tap = taps[i];
            const bool inside = line < places && is_inside(tap, walk, w);
            return inside ? from[tap.offset] : from_float<T>(0);
          });
      advance(walk, kPlaces, w);
    }
  };

  const auto fetch = [&](int slice, int places, T* to_dy, T* to_x) __attribute__((always_inline)) {
    fetch_dy(slice, places, to_dy);
    fetch_x(places, to_x);
  };

  const gemm::WarpPart own_part = gemm::warp_part(outputs, elements);
  gemm::WarpSum sum = {};
  gemm::multiply_slices<T, OfDy, OfX>(part.places, own_part, fetch, sum);
  const std::int64_t filter = w.filter.elements();
  gemm::each_half(
      sum, own_part,
      outputs, [&](int first, int rows, const float* half) __attribute__((always_inline)) {
        float* const to = sums + (part.sums + first * filter + thread);
        for (int row = 0; row < rows && thread < elements; ++row)
          to[row * filter] = half[row * gemm::kMma.pitch() + thread];
      });
}

// Tile for few output channels.
inline constexpr gemm::MmaTile kFewOutputs{.m = 64, .n = 256, .slices = 3};
static_assert(kFewOutputs.threads() == kMmaThreads);

// For nhwc with whole 16-byte vectors of channels of dy and x. sums: as in weight_tiles_mma.
template <class T, bool kFew>
__global__ void __launch_bounds__(kMmaThreads, 2)
    weight_tiles_packs(const T* __restrict__ dy, const T* __restrict__ x, float* __restrict__ sums,
                       WeightTiles w) {
  constexpr gemm::MmaTile kTile = kFew ? kFewOutputs : gemm::kMma;
  using OfDy = gemm::MmaSlice<T, kTile.m, gemm::kDepth<T>, false, kMmaThreads>;
  using OfX = gemm::MmaSlice<T, kTile.n, gemm::kDepth<T>, false, kMmaThreads>;
  const TilePart part = tile_part(w, kTile.m, kTile.n);
  const int outputs = part.outputs < kTile.m ? part.outputs : kTile.m;
  const int elements = part.elements < kTile.n ? part.elements : kTile.n;
  dy += part.place0 * w.y.column + part.output0;
  x += static_cast<std::int64_t>(part.group) * w.filter.channels;

  T* const slices = dynamic_shared<T>();
  typename OfDy::Copies of_dy({dy, w.y.column, outputs, true}, slices);
  TapCopies<T, OfX, kMmaThreads> of_x(
      w, x, part, dynamic_shared<conv2d::Start>(kTile.shared_bytes()), slices + OfDy::kElements);
  __syncthreads();
  const gemm::WarpPart own = gemm::warp_part<kTile>(outputs, elements);
  gemm::WarpSum sum = {};
  gemm::multiply_whole<T, OfDy, OfX, kTile>(part.places, own, of_dy, of_x, sum);
  const std::int64_t filter = w.filter.elements();
  gemm::each_half<kTile>(
      sum, own,
      outputs, [&](int first, int rows, const float* half) __attribute__((always_inline)) {
        constexpr int kQuad = kPackElements<float>;
        constexpr int kQuads = kTile.n / kQuad;
        KG_ROLLED
        for (int i = static_cast<int>(threadIdx.x); i < rows * kQuads; i += kMmaThreads) {
          const int row = i / kQuads, element = i % kQuads * kQuad;
          if (element >= elements) continue;
          store_pack<float, kQuad, Store::wide>(
              sums + (part.sums + (first + row) * filter + element), 0, kQuad,
              gemm::sums_at<kQuad>(half + row * kTile.pitch() + element, 0));
        }
      });
}

namespace {

constexpr TileOfWeights kMmaWeights{
    .outputs = kMmaExtent, .elements = kMmaExtent, .depth = gemm::kDepth<f16>, .blocks = 2};
constexpr TileOfWeights kFewWeights{
    .outputs = kFewOutputs.m, .elements = kFewOutputs.n, .depth = gemm::kDepth<f16>, .blocks = 2};

// Slices and tables; each_half reuses their memory for rows of the tile.
constexpr std::size_t shared_bytes_of_packs(const gemm::MmaTile& tile) {
  const std::size_t tables = 2 * kMmaThreads * sizeof(conv2d::Start);
  const std::size_t half = gemm::kWarpExtent * tile.pitch() * sizeof(float);
  return std::max<std::size_t>(tile.shared_bytes() + tables, half);
}

// Whether tiles for few output channels pad less, and their shared memory fits the device.
bool few_outputs_pay(const Geometry& g) {
  if (device_properties().shared_bytes_per_block_optin < shared_bytes_of_packs(kFewOutputs))
    return false;
  const auto padded = [&](const TileOfWeights& tile) {
    return div_up(g.group_outputs(), tile.outputs) * tile.outputs *
           (div_up(g.depth(), tile.elements) * tile.elements);
  };
  return padded(kFewWeights) < padded(kMmaWeights);
}

template <class T, bool kChannelsLast, int kWidth>
void launch_tiles(const Problem<T>& p, bool packs_of_dy, Stream& stream) {
  constexpr std::size_t kTaps = kChannelsLast ? 0 : kMmaThreads * sizeof(Tap);
  run_parts(weight_tiles_mma<T, kChannelsLast, kWidth>, p, weight_tiles_of(p.geometry, kMmaWeights),
            kMmaThreads, gemm::kMma.shared_bytes() + kTaps, stream, packs_of_dy);
}

template <class T, bool kFew>
void launch_packs(const Problem<T>& p, Stream& stream) {
  constexpr gemm::MmaTile kTile = kFew ? kFewOutputs : gemm::kMma;
  run_parts(weight_tiles_packs<T, kFew>, p,
            weight_tiles_of(p.geometry, kFew ? kFewWeights : kMmaWeights), kMmaThreads,
            shared_bytes_of_packs(kTile), stream);
}

} // namespace

// The maximum over both tile shapes, since the choice also depends on addresses.
std::size_t weights_mma_workspace_bytes(const Geometry& g) {
  return std::max(sums_bytes(weight_tiles_of(g, kMmaWeights)),
                  few_outputs_pay(g) ? sums_bytes(weight_tiles_of(g, kFewWeights)) : 0);
}

template <class T>
void run_weights_mma(const Problem<T>& p, Stream& stream) {
  const Geometry& g = p.geometry;
  constexpr int kPack = kPackElements<T>;
  if (g.layout == Layout::nchw)
    return conv2d::widest_access(g.out_places(), p.dy) == kPack
               ? launch_tiles<T, false, kPack>(p, false, stream)
               : launch_tiles<T, false, 1>(p, false, stream);
  const int of_x = conv2d::widest_access(g.group_inputs(), p.x);
  const int of_dy = conv2d::widest_access(g.group_outputs(), p.dy);
  const bool packs_of_dy = of_dy == kPack;
  if (packs_of_dy && of_x == kPack)
    return few_outputs_pay(g) ? launch_packs<T, true>(p, stream)
                              : launch_packs<T, false>(p, stream);
  // Both operands use the narrower width, except that whole vectors of one coexist with single
  // elements of the other.
  const bool alone = packs_of_dy || (of_x == kPack && of_dy == 1);
  switch (alone ? of_x : std::min(of_x, of_dy)) {
  case kPack: return launch_tiles<T, true, kPack>(p, false, stream);
  case 4: return launch_tiles<T, true, 4>(p, packs_of_dy, stream);
  case 2: return launch_tiles<T, true, 2>(p, packs_of_dy, stream);
  default: return launch_tiles<T, true, 1>(p, packs_of_dy, stream);
  }
}

template void run_weights_mma(const Problem<f16>&, Stream&);
template void run_weights_mma(const Problem<bf16>&, Stream&);

} // namespace kg::conv2d_backward
