// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, variant split_k: for a C of too few tiles to fill the device, k is cut into parts, as many
// as do. Blocks of mma, or without it of tiled, write the f32 sums of a tile and a part, in rows,
// to the workspace; a second kernel adds the parts of each element in their order and does the
// rest.
//
// Bytes: those of mma or tiled, whose blocks read A and B as often as before, and 8 for each
// element and part, half of them written. Parts of at least 512 steps of k keep that below an
// eighth of what the 64x64 tiles of f32 matrices read, and below half of 128x128 tiles of 16 bits,
// most of it from and to L2. Flops: 2 m n k, and an addition for each element and part. Expected on
// an H200, not measured: 2 to 8 times as fast as mma alone where C has a sixteenth as many tiles as
// there are multiprocessors. Why not atomic additions, which need neither the workspace nor the
// second kernel: their order, and so the bits, would change from run to run.
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

// Neighbouring threads have neighbouring packs of a row.
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

// Of a part: fewer are not worth their sums, see above.
constexpr std::int64_t kLeastDepth = 512;
// Parts end where slices do, and where 16-byte accesses do.
constexpr std::int64_t kDepthUnit = 32;
static_assert(kDepthUnit % kDepth<f16> == 0 && kDepthUnit % kTile.k == 0);

// The tiles of C, and the blocks for them that a multiprocessor should have, so that one's loads
// are under way while another computes: of mma 2 are resident, of tiled 6.
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

// Half a device of whole tiles, each of which would be read twice or more, is not worth the sums.
// The published gain that this follows, 2.9 times for 128x128x16384 on a B200, is of one tile
// (Dao-AILab/quack, pull request 157).
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
