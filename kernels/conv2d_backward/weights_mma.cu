// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d_backward, variant implicit_gemm of the weights, for f16 and bf16: the product of
// weights.cu by the tiles of gemm's variant mma, 128 output channels of a group by 128 elements of
// a filter, with three slices of 32 places in shared memory; and its parts and their sum.
//
// In nhwc both operands lie along the channels, and a line of a slice is a place: of dy, which is a
// matrix then, gemm copies it; of x, where the channels of a group are whole packs, a thread has
// one pack of every eighth place, which comes by one cp.async that writes zeros where the tap lies
// in the padding. In nchw dy lies along the places, and where those of an image are whole packs, it
// is copied as gemm does with a row for each channel. The windows of x, and what is not whole packs
// or not aligned, go element by element through registers, several times slower: there a thread has
// a place, so that a warp reads 32 neighbours at a time, and all its lanes want the same element of
// a filter, whose tap they look up in shared memory.
//
// Bytes: as weights.cu, at half the size; 32 * (128 + 128) elements per 128 * 128 * 32
// multiply-adds. Flops: 2 per product, padding of the tiles included. Expected on an H200, not
// measured: 40 % of the dense peak of its matrix units in nhwc for 128 output channels and more,
// 10 % in nchw; of 64 output channels half of a tile's warps have nothing to multiply. Why not
// ldmatrix from x itself, without the copies for each tap: its lines would begin between 16 bytes.
#include "conv2d_backward/weight_tiles.h"
#include "gemm/mma_slice.h"
#include "gemm/mma_tile.h"
#include "gemm/mma_walk.h"

#include "primitives/pack.h"

namespace kg::conv2d_backward {

static_assert(gemm::kMma.m == gemm::kMma.n && gemm::kMma.threads() == gemm::kMma.m,
              "a thread has a tap, and writes a column");
inline constexpr int kMmaExtent = gemm::kMma.m;
inline constexpr int kMmaThreads = gemm::kMma.threads();
template <class T, bool kAlongPlaces>
using WeightSlice = gemm::MmaSlice<T, kMmaExtent, gemm::kDepth<T>, kAlongPlaces, kMmaThreads>;

// Gathers a slice whose lines are places. element(i): the i-th of the thread's place.
template <class T, class Element>
__device__ __forceinline__ void gather_elements(T* slice, const Element& element) {
  using Slice = WeightSlice<T, false>;
  constexpr int kTogether = kMmaThreads / Slice::kLines; // chunks of a place
  const int line = static_cast<int>(threadIdx.x) % Slice::kLines;
  const int first = static_cast<int>(threadIdx.x) / Slice::kLines;
  KG_UNROLL
  for (int i = 0; i < Slice::kChunks / kTogether; ++i) {
    const int chunk = first + i * kTogether;
    Pack<T, Slice::kChunk> elements;
    KG_UNROLL
    for (int e = 0; e < Slice::kChunk; ++e)
      elements.element[e] = element(chunk * Slice::kChunk + e);
    *reinterpret_cast<Pack<T, Slice::kChunk>*>(slice + Slice::place(line, chunk)) = elements;
  }
}

// kPacks: 16-byte copies are aligned and whole, in nhwc those of x, in nchw those of dy; vector_dy:
// those of dy in nhwc. sums: parts x out_channels x elements of a filter.
template <class T, bool kChannelsLast, bool kPacks>
__global__ void __launch_bounds__(kMmaThreads, 2)
    weight_tiles_mma(const T* __restrict__ dy, const T* __restrict__ x, float* __restrict__ sums,
                     WeightTiles w, bool vector_dy) {
  constexpr bool kPacksOfX = kChannelsLast && kPacks;
  constexpr bool kPacksOfDy = !kChannelsLast && kPacks;
  constexpr int kPlaces = gemm::kDepth<T>; // of a slice
  using OfDy = WeightSlice<T, kPacksOfDy>;
  using OfX = WeightSlice<T, false>;
  const auto thread = static_cast<int>(threadIdx.x);
  const TilePart part = tile_part(w, kMmaExtent);
  const int outputs = part.outputs < kMmaExtent ? part.outputs : kMmaExtent;
  const int elements = part.elements < kMmaExtent ? part.elements : kMmaExtent;
  dy += part.output0 * w.y.channel;
  x += static_cast<std::int64_t>(part.group) * w.filter.channels * w.x.channel;

  // Where the thread's element, or the first of its pack, lies in a slice.
  const int line = kPacksOfX ? thread / OfX::kChunks : thread % OfX::kLines;
  const int chunk = thread % OfX::kChunks;
  const int chunk_of_dy = kPacksOfDy ? thread % OfDy::kChunks * OfDy::kChunk : 0;
  Walk walk = walk_from(part.place0 + line, w);
  Walk walk_of_dy = walk_from(part.place0 + chunk_of_dy, w);
  const Tap own = tap_at(part.element0 + (kPacksOfX ? chunk * OfX::kChunk : thread), w);
  Tap* const taps = dynamic_shared<Tap>(gemm::kMma.shared_bytes()); // behind the slices
  if constexpr (!kPacksOfX) {
    taps[thread] = own;
    __syncthreads();
  }

  const auto fetch_dy = [&](int slice, int places, T* to) __attribute__((always_inline)) {
    if constexpr (kChannelsLast) {
      const std::int64_t place0 = part.place0 + slice * std::int64_t{kPlaces};
      OfDy::fetch({dy + place0 * w.y.column, w.y.column, outputs, vector_dy}, places, to);
    } else if constexpr (kPacksOfDy) {
      // From where the line would begin if all of it lay in the chunk's image.
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
    if constexpr (kPacksOfX) {
      KG_UNROLL
      for (int i = 0; i < OfX::kLines; i += OfX::kStep) {
        const bool inside = line + i < places && is_inside(own, walk, w);
        ptx::cp_async_cg(to + OfX::place(line + i, chunk),
                         x + (inside ? offset_in_x(walk, w) + own.offset : 0),
                         inside ? kPackBytes : 0);
        advance(walk, OfX::kStep, w);
      }
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

namespace {

constexpr TileOfWeights kMmaWeights{
    .extent = kMmaExtent, .depth = gemm::kMma.k_bytes / 2, .blocks = 2};

template <class T, bool kChannelsLast, bool kPacks>
void launch_tiles(const Problem<T>& p, bool vector_dy, Stream& stream) {
  constexpr std::size_t kTaps = kChannelsLast && kPacks ? 0 : kMmaThreads * sizeof(Tap);
  run_parts(weight_tiles_mma<T, kChannelsLast, kPacks>, p, weight_tiles_of(p.geometry, kMmaWeights),
            kMmaThreads, gemm::kMma.shared_bytes() + kTaps, stream, vector_dy);
}

} // namespace

std::size_t weights_mma_workspace_bytes(const Geometry& g) {
  return sums_bytes(weight_tiles_of(g, kMmaWeights));
}

template <class T>
void run_weights_mma(const Problem<T>& p, Stream& stream) {
  const Geometry& g = p.geometry;
  const auto packs = [](std::int64_t elements, const T* pointer) {
    return elements % kPackElements<T> == 0 && is_aligned(pointer);
  };
  if (g.layout == Layout::nhwc) {
    const bool vector_dy = packs(g.group_outputs(), p.dy);
    packs(g.group_inputs(), p.x) ? launch_tiles<T, true, true>(p, vector_dy, stream)
                                 : launch_tiles<T, true, false>(p, vector_dy, stream);
  } else {
    packs(g.out_places(), p.dy) ? launch_tiles<T, false, true>(p, false, stream)
                                : launch_tiles<T, false, false>(p, false, stream);
  }
}

template void run_weights_mma(const Problem<f16>&, Stream&);
template void run_weights_mma(const Problem<bf16>&, Stream&);

} // namespace kg::conv2d_backward
