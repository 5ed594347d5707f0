// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant split_k: if C has too few tiles to fill the device, k is split into enough parts.
// The blocks of mma, or else tiled, write the f32 sums of one tile and part to the workspace, by
// rows. A second kernel adds the parts of each element in order and applies the epilogue.
//
// Bytes: those of mma or tiled, whose blocks read A and B as often as without the split, and 8 per
// element and part, half of them written. Parts have at least 512 steps of k. This keeps the 8
// bytes below 1/8 of what 64x64 tiles of f32 read, and below 1/2 for 128x128 tiles of 16 bits; most
// of them hit L2. Flops: 2 m n k, and an addition per element and part. Expected on an H200, not
// measured: 2 to 8 times the speed of mma if C has 1/16 as many tiles as there are multiprocessors.
// Why not atomic additions, without workspace and second kernel: their order, and so the bits,
// would change from run to run.
#include "ops/gemm/finish.h"
#include "ops/gemm/mma_tile.h"
#include "ops/gemm/simt_tile.h"
#include "ops/gemm/variants.h"

#include "primitives/full_blocks.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <type_traits>

namespace kg::gemm {

inline constexpr int kAddThreads = 256;
inline constexpr int kSumsPack = kPackElements<float>;

// Neighbouring threads take neighbouring vectors of a row.
template <class T, int Count>
__global__ void __launch_bounds__(kAddThreads, full_blocks())
    add_parts(BasicProblem<T> p, Split split) {
  constexpr float kPadding = 0;
  const PartialSums& sums = split.sums;
  const std::int64_t packs = (p.n + Count - 1) / Count;
  const std::int64_t index = std::int64_t{blockIdx.x} * kAddThreads + threadIdx.x;
  const std::int64_t product = index / packs / p.m;
  if (product >= p.batch) return;
  const std::int64_t row = index / packs % p.m;
  const std::int64_t pack = index % packs;
  const float* part = sums.data + (product * split.parts * p.m + row) * sums.pitch;
  Floats<Count> total = load_pack<float, Count>(part, pack, sums.pitch, kPadding);
  for (unsigned i = 1; i < split.parts; ++i) {
    part += p.m * sums.pitch;
    const Floats<Count> next = load_pack<float, Count>(part, pack, sums.pitch, kPadding);
    KG_UNROLL
    for (int e = 0; e < Count; ++e) total.value[e] += next.value[e];
  }
  finish<Count>(p, product, row, pack, total);
}

namespace {

// Minimum steps of k per part; below it the sums cost too much (see above).
constexpr std::int64_t kLeastDepth = 512;
// Parts end at slice boundaries and at multiples of 16-byte accesses.
constexpr std::int64_t kDepthUnit = 32;
static_assert(kDepthUnit % kDepth<f16> == 0 && kDepthUnit % kTile.k == 0);

// The tiles of C, and the blocks per multiprocessor that overlap one block's loads with another's
// arithmetic: 2 blocks of mma are resident, or 6 of tiled.
struct Tiles {
  std::int64_t count, blocks_per_sm;
};
template <class T>
Tiles tiles_of(const BasicProblem<T>& p) {
  if (supports<T>(Variant::mma, p.math))
    return {div_up(p.m, kMma.m) * div_up(p.n, kMma.n) * p.batch, 2};
  return {div_up(p.m, kTile.m) * div_up(p.n, kTile.n) * p.batch, 4};
}

template <class T, int Count>
void launch_add(const BasicProblem<T>& p, const Split& split, Stream& stream) {
  const std::int64_t packs = div_up(p.n, Count);
  launch(add_parts<T, Count>,
         {.grid = dim3(count_blocks(div_up(p.m * packs * p.batch, kAddThreads), 1, 1)),
          .block = dim3(kAddThreads),
          .stream = &stream},
         p, split);
}

} // namespace

template <class T>
Split split_of(const BasicProblem<T>& p) {
  std::int64_t most = p.parts;
  if (most == 0) {
    const Tiles tiles = tiles_of(p);
    const std::int64_t blocks = tiles.blocks_per_sm * device_properties().sm_count;
    most = std::min(blocks / std::max<std::int64_t>(tiles.count, 1), p.k / kLeastDepth);
  }
  most = std::max<std::int64_t>(most, 1);
  const std::int64_t depth =
      std::max<std::int64_t>(div_up(div_up(p.k, most), kDepthUnit), 1) * kDepthUnit;
  const std::int64_t parts = std::max<std::int64_t>(div_up(p.k, depth), 1);
  return {static_cast<unsigned>(parts),
          depth,
          {static_cast<float*>(p.workspace), p.m, p.n, div_up(p.n, kSumsPack) * kSumsPack}};
}

// If whole tiles fill more than half the device, splitting each into two or more partial sums does
// not pay. The published gain behind this rule, 2.9x for 128x128x16384 on a B200, is for a single
// tile (Dao-AILab/quack, pull request 157).
template <class T>
bool split_pays(const BasicProblem<T>& p) {
  return 2 * tiles_of(p).count <= device_properties().sm_count && split_of(p).parts > 1;
}

template <class T>
void run_split_k(const BasicProblem<T>& p, Stream& stream) {
  const Split split = split_of(p);
  if (supports<T>(Variant::mma, p.math))
    run_mma(p, split, stream);
  else if constexpr (std::is_same_v<T, float>)
    run_tiled(p, split, stream);
  if (packs_fit(p))
    launch_add<T, kSumsPack>(p, split, stream);
  else
    launch_add<T, 1>(p, split, stream);
}

template Split split_of(const BasicProblem<float>&);
template Split split_of(const BasicProblem<f16>&);
template Split split_of(const BasicProblem<bf16>&);
template bool split_pays(const BasicProblem<float>&);
template bool split_pays(const BasicProblem<f16>&);
template bool split_pays(const BasicProblem<bf16>&);
template void run_split_k(const BasicProblem<float>&, Stream&);
template void run_split_k(const BasicProblem<f16>&, Stream&);
template void run_split_k(const BasicProblem<bf16>&, Stream&);

} // namespace kg::gemm
