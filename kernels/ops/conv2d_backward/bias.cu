// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d_backward, variant vectorized of the bias: per-channel sums of dy. Each block sums a part
// of a channel; a second launch adds the parts.
//
// Bytes: dy read once, by 16-byte accesses if its alignment permits; the parts take a few hundred
// floats per channel. Flops: one per element. Expected on an H200: 85 % of its read bandwidth from
// 64 MiB on. Why not a product with ones: Tensor Cores would also wait for memory. Why not atomics:
// the order of additions would change from run to run.
#include "ops/conv2d_backward/variants.h"

#include "ops/batchnorm/columns.h"
#include "ops/batchnorm/planes.h"
#include "primitives/sum_partials.h"
#include "runtime/launch.h"

namespace kg::conv2d_backward {

using batchnorm::kThreads;
using batchnorm::kTogether;
using batchnorm::Planes;
using batchnorm::Window;

// nchw: part blockIdx.y of channel blockIdx.x.
template <class T, int Count, bool kWhole>
__global__ void __launch_bounds__(kThreads, batchnorm::kBlocksPerSm)
    plane_sums(const T* __restrict__ dy, Planes p, float* __restrict__ partials) {
  __shared__ float scratch[kThreads / kLanes];
  float sum = 0;
  batchnorm::each_chunk<Count, kWhole>(
      p, blockIdx.x, [&](const Window(&windows)[kTogether], auto whole) {
        StoredPack<T, Count> stored[kTogether];
        KG_UNROLL
        for (int k = 0; k < kTogether; ++k)
          stored[k] = batchnorm::load_in_chunk<T, Count>(dy, windows[k], p.elements, whole);
        Floats<Count> values[kTogether];
        widen(stored, values);
        KG_UNROLL
        for (int k = 0; k < kTogether; ++k) {
          KG_UNROLL
          for (int e = 0; e < Count; ++e)
            if (whole || (e >= windows[k].begin && e < windows[k].end)) sum += values[k].value[e];
        }
      });
  sum = block_sum(sum, scratch);
  if (threadIdx.x == 0) partials[partial_offset(blockIdx.y, 1, 0, p.channels) + blockIdx.x] = sum;
}

// nhwc: part blockIdx.y of the rows of a strip of channels.
template <class T, int Count>
__global__ void __launch_bounds__(kThreads, batchnorm::kBlocksPerSm)
    column_sums(const T* __restrict__ dy, std::int64_t rows, std::int64_t channels,
                float* __restrict__ partials) {
  __shared__ float scratch[Count][kThreads];
  const std::int64_t pack = batchnorm::column_pack();
  const bool has_channels = pack * Count < channels;
  Floats<Count> sum = {};
  if (has_channels)
    batchnorm::each_rows<batchnorm::Walk::forwards>(
        rows, [&](const std::int64_t(&row)[kTogether], int held, auto whole) {
          StoredPack<T, Count> stored[kTogether];
          KG_UNROLL
          for (int k = 0; k < kTogether; ++k)
            stored[k] = batchnorm::load_columns<T, Count>(dy + row[k] * channels, pack, channels,
                                                          whole || k < held);
          Floats<Count> values[kTogether];
          widen(stored, values);
          KG_UNROLL
          for (int k = 0; k < kTogether; ++k) {
            if (!whole && k >= held) continue;
            KG_UNROLL
            for (int e = 0; e < Count; ++e) sum.value[e] += values[k].value[e];
          }
        });

  // Tree reduction over the block's rows: the lower half adds the sums of the upper half.
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    if (threadIdx.y >= half && threadIdx.y < 2 * half) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e) scratch[e][thread] = sum.value[e];
    }
    __syncthreads();
    if (threadIdx.y >= half) continue;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) sum.value[e] += scratch[e][thread + half * blockDim.x];
  }
  if (threadIdx.y > 0 || !has_channels) return;
  float* const to = partials + partial_offset(blockIdx.y, 1, 0, channels);
  batchnorm::store_floats<Count>(to, pack, channels, sum);
}

namespace {

// dy as a tensor of batchnorm.
batchnorm::Problem tensor_of(const Geometry& g) {
  return {g.batch, g.out_channels, g.out_places(), g.layout};
}

LaunchConfig over(std::int64_t blocks, std::int64_t parts, dim3 block, Stream& stream) {
  return {.grid = {grid_x(blocks, "conv2d_backward: the channels", "split them"),
                   static_cast<unsigned>(parts)},
          .block = block,
          .stream = &stream};
}

} // namespace

template <class T>
std::size_t bias_workspace_bytes(const Geometry& g) {
  return batchnorm::partial_bytes(batchnorm::Variant::vectorized, dtype_of<T>, tensor_of(g),
                                  batchnorm::kBlocksPerSm, 1);
}

template <class T>
void run_bias(const Problem<T>& problem, Stream& stream) {
  const batchnorm::Problem p = tensor_of(problem.geometry);
  const std::int64_t parts =
      batchnorm::parts(batchnorm::Variant::vectorized, dtype_of<T>, p, batchnorm::kBlocksPerSm);
  auto* const partials = static_cast<float*>(problem.workspace);
  constexpr int kCount = kPackElements<T>;
  if (p.layout == Layout::nchw) {
    const Planes planes(p, problem.dy, kCount);
    launch(planes.whole ? plane_sums<T, kCount, true> : plane_sums<T, kCount, false>,
           over(p.channels, parts, kThreads, stream), problem.dy, planes, partials);
  } else {
    const bool packs = p.channels % kCount == 0 && is_aligned(problem.dy);
    const batchnorm::ColumnTiles tiles = batchnorm::column_tiles(p, packs ? kCount : 1);
    const LaunchConfig config = over(tiles.across, parts, dim3(tiles.lanes, tiles.height), stream);
    launch(packs ? column_sums<T, kCount> : column_sums<T, 1>, config, problem.dy, p.per_channel(),
           p.channels, partials);
  }
  launch_sum_partials<T, 1>("conv2d_backward", partials, parts, p.channels, {problem.gradient},
                            stream);
}

template std::size_t bias_workspace_bytes<float>(const Geometry&);
template std::size_t bias_workspace_bytes<f16>(const Geometry&);
template std::size_t bias_workspace_bytes<bf16>(const Geometry&);
template void run_bias(const Problem<float>&, Stream&);
template void run_bias(const Problem<f16>&, Stream&);
template void run_bias(const Problem<bf16>&, Stream&);

} // namespace kg::conv2d_backward
