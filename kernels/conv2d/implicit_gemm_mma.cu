// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant implicit_gemm, for f16 and bf16: the product of weights and columns by the tiles
// of gemm's variant mma, 128 output channels of a group by 128 places of y, with three slices of 32
// steps of k in shared memory.
//
// Both operands lie along k: a line of a slice is a filter, or the window of a place. In nhwc they
// come by cp.async, of as many bytes as the channels of a group and the alignment permit (16, 8 or
// 4; pieces.h), which writes zeros where a window lies in the padding; an odd number of channels
// comes by single elements through registers. In nchw a thread gathers 8 steps of k of 4 places one
// by one, which is several times slower, and the weights are copied as gemm copies an operand.
// Where a place's window begins is looked up in shared memory: the registers are full of sums.
//
// Bytes: as implicit_gemm.cu, at half the size; 128 * (128 + 128) elements per 128 * 128 * 128
// multiply-adds. Expected on an H200, not measured: 40 to 50 % of the dense peak of its matrix
// units in nhwc for 128 channels and more; of 64 channels half of a tile's warps have nothing to
// multiply. Sectors that are asked for with 12, 10 and 3 channels and 32 outputs of 3x3: 2447, 2642
// and 1769; if a thread gathered 8 single elements, 13476, 9422 and 3813.
#include "conv2d/gathered.h"
#include "conv2d/pieces.h"
#include "conv2d/variants.h"
#include "gemm/mma_slice.h"
#include "gemm/mma_tile.h"
#include "gemm/mma_walk.h"

#include "primitives/pack.h"
#include "ptx/store_shared.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>

namespace kg::conv2d {

static_assert(gemm::kMma.m == gemm::kMma.n && gemm::kMma.threads() == gemm::kMma.m,
              "operands may change places, and a thread writes a column");
inline constexpr int kMmaOutputs = gemm::kMma.m; // channels, and places
template <class T>
using LinesAlongK = gemm::MmaSlice<T, kMmaOutputs, gemm::kDepth<T>, true, gemm::kMma.threads()>;

// Where the window of a place begins: in x, and in the image.
struct alignas(16) Start {
  std::int64_t offset; // of the group's first channel, in the image
  int row, column;
};

template <bool kChannelsLast>
__device__ __forceinline__ Step step_at(int k, const Gathered& g) {
  const int length = kChannelsLast ? g.group_inputs : g.vertical.kernel * g.horizontal.kernel;
  const int tap = kChannelsLast ? k / length : k % length;
  return {kChannelsLast ? k % length : k / length, tap / g.horizontal.kernel,
          tap % g.horizontal.kernel};
}

// The element of the window that a step of k wants; -1: there is none.
__device__ __forceinline__ std::int64_t offset_of(const Start& start, const Step& step,
                                                  const Gathered& g) {
  const int row = start.row + step.row * g.vertical.dilation;
  const int column = start.column + step.column * g.horizontal.dilation;
  const bool exists = step.channel < g.group_inputs && step.row < g.vertical.kernel;
  const bool inside = row >= 0 && row < g.vertical.in && column >= 0 && column < g.horizontal.in;
  if (!exists || !inside) return -1;
  return start.offset + step.channel * g.x.channel + row * g.vertical.x_step +
         column * g.horizontal.x_step;
}

// Gathers a slice of the windows of the block's places; nhwc, kWidth elements at a time.
template <int kWidth, class T>
__device__ __forceinline__ void gather_pieces(const Gathered& g, const T* x, const Start* starts,
                                              int k0, T* slice) {
  using Own = Pieces<LinesAlongK<T>, kWidth>;
  const Step step = step_at<true>(k0 + Own::element(), g);
  Own::fetch(
      x,
      [&](int line) __attribute__((always_inline)) {
        const Start start = starts[line];
        return offset_of(start, step, g);
      },
      slice);
}

// The same in nchw: 8 steps of k of a place.
template <class T>
__device__ __forceinline__ void gather_elements(const Gathered& g, const T* x, const Start* starts,
                                                int k0, T* slice) {
  using Slice = LinesAlongK<T>;
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

// The weights' slice in nhwc, where Slice::fetch would go element by element.
template <int kWidth, class T>
__device__ __forceinline__ void fetch_filters(const gemm::MmaOperand<T>& filters, int depth,
                                              T* slice) {
  using Own = Pieces<LinesAlongK<T>, kWidth>;
  const int element = Own::element();
  Own::fetch(
      filters.data,
      [&](int line) __attribute__((always_inline)) {
        const bool exists = line < filters.outer && element < depth;
        return exists ? line * filters.leading + element : std::int64_t{-1};
      },
      slice);
}

// kWidth: elements of the copies of x and of the weights in nhwc, which are aligned and whole;
// vector_weights: those of the weights in nchw are, of 16 bytes.
template <class T, bool kChannelsLast, int kWidth>
__global__ void __launch_bounds__(gemm::kMma.threads(), 2)
    implicit_gemm_mma(const T* __restrict__ x, const T* __restrict__ weights,
                      const T* __restrict__ bias, T* __restrict__ y, Gathered g,
                      bool vector_weights) {
  using Slice = LinesAlongK<T>;
  Start* const starts = dynamic_shared<Start>(gemm::kMma.shared_bytes()); // behind the slices
  const auto thread = static_cast<int>(threadIdx.x);
  const std::int64_t tile = blockIdx.x / g.channel_tiles;
  const std::int64_t place0 = tile % g.place_tiles * kMmaOutputs;
  const auto group = static_cast<int>(tile / g.place_tiles);
  const auto first_channel = static_cast<int>(blockIdx.x % g.channel_tiles) * kMmaOutputs;
  const int channel0 = group * g.group_outputs + first_channel;
  const int left = g.group_outputs - first_channel;
  const int channels = left < kMmaOutputs ? left : kMmaOutputs;
  const std::int64_t rest = g.outputs - place0;
  const int places = static_cast<int>(rest < kMmaOutputs ? rest : kMmaOutputs);

  // A place that does not exist has no element in the image, wherever its window begins.
  constexpr int kOutside = -static_cast<int>(window::kMostExtent) - 1;
  const std::int64_t index = place0 + thread;
  const std::int64_t place = index % g.places;
  starts[thread] = {
      index / g.places * g.x.outer + group * g.group_inputs * g.x.channel,
      thread < places
          ? static_cast<int>(place / g.horizontal.out) * g.vertical.stride - g.vertical.before
          : kOutside,
      static_cast<int>(place % g.horizontal.out) * g.horizontal.stride - g.horizontal.before};
  __syncthreads();

  const int rows = kChannelsLast ? places : channels;
  const int columns = kChannelsLast ? channels : places;
  const gemm::WarpPart own = gemm::warp_part(rows, columns);
  gemm::MmaOperand<T> filters{weights + channel0 * g.depth, g.depth, channels, vector_weights};
  const auto fetch = [&](int slice, int depth, T* a, T* b) __attribute__((always_inline)) {
    const int k0 = slice * gemm::kDepth<T>;
    if constexpr (!kChannelsLast) {
      Slice::fetch(filters, depth, a);
      gather_elements(g, x, starts, k0, b);
    } else {
      if constexpr (kWidth == kPackElements<T>)
        Slice::fetch(filters, depth, b);
      else
        fetch_filters<kWidth>(filters, depth, b);
      gather_pieces<kWidth>(g, x, starts, k0, a);
    }
    filters.data += gemm::kDepth<T>;
  };
  gemm::WarpSum sum = {};
  gemm::multiply_slices<T, Slice, Slice>(g.depth, own, fetch, sum);
  gemm::each_half(
      sum, own, rows, [&](int first, int some, const float* half) __attribute__((always_inline)) {
        write<kChannelsLast>(g, bias, y, kChannelsLast ? channel0 : channel0 + first,
                             kChannelsLast ? channels : some,
                             kChannelsLast ? place0 + first : place0, kChannelsLast ? some : places,
                             half + thread, gemm::kMma.pitch());
      });
}

namespace {

template <class T, bool kChannelsLast, int kWidth>
void launch_implicit(const Problem<T>& p, const Gathered& g, Stream& stream) {
  launch(implicit_gemm_mma<T, kChannelsLast, kWidth>,
         {.grid = grid_x(g.tiles(), "conv2d: the tiles of y", "split the batch"),
          .block = dim3(static_cast<unsigned>(gemm::kMma.threads())),
          .shared_bytes = gemm::kMma.shared_bytes() + kMmaOutputs * sizeof(Start),
          .stream = &stream},
         p.x, p.weights, p.bias, p.y, g, widest_access(g.depth, p.weights) == kPackElements<T>);
}

} // namespace

template <class T>
void run_implicit_gemm_mma(const Problem<T>& p, Stream& stream) {
  const Gathered g = gathered(p.geometry, kMmaOutputs);
  if (p.geometry.layout == Layout::nchw) return launch_implicit<T, false, 1>(p, g, stream);
  switch (std::min(widest_access(g.group_inputs, p.x), widest_access(g.group_inputs, p.weights))) {
  case 8: return launch_implicit<T, true, 8>(p, g, stream);
  case 4: return launch_implicit<T, true, 4>(p, g, stream);
  case 2: return launch_implicit<T, true, 2>(p, g, stream);
  default: return launch_implicit<T, true, 1>(p, g, stream);
  }
}

template void run_implicit_gemm_mma(const Problem<f16>&, Stream&);
template void run_implicit_gemm_mma(const Problem<bf16>&, Stream&);

} // namespace kg::conv2d
