// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// quantised_matmul for many rows, variant wgmma, for 8 bits on compute capability 9.0: persistent
// blocks, one per multiprocessor, process tiles of Y of 128x256, or 128x128 if that takes less
// time. A producer warp issues bulk copies of slices of 128 bytes of k; two consumer warpgroups
// multiply 64 rows each (primitives/warpgroup_product.h). Rows of X and of W are contiguous along
// k, the only order in which wgmma accepts bytes, so nothing is transposed. Zeros fill what lies
// behind the matrices. Integers' sums are exact in 32 bits. Tensor Cores are reported to keep about
// 14 bits of e4m3's sums, so they add 128 products, and threads add those sums in f32. That takes
// twice the registers, so e4m3 has tiles of 128x128 alone.
//
// A lane loads two scales of X, and one of each 32 of W, before a tile's products, which hide the
// latency. Lanes exchange W's scales when the sums are finished. Results are rounded and stored by
// bulk copies that overlap the next tile (warp_store.h).
//
// If the number of tile rows is even, two blocks of a cluster share slices of W.
//
// Tensor maps require rows of all matrices to be aligned to 16 bytes. mma handles other problems.
//
// Bytes: a block reads (128 + 256) k from L2 or memory, 171 operations per byte; with shared W,
// (128 + 128) k, 256 per byte (128x128: 128 and 171). Operations: 2 m n k. Limits on an H200, in
// operations per clock and multiprocessor: Tensor Cores 8,192; shared memory 13,107 (a 128-clock
// instruction reads 80 of 128 bytes per clock); L2, at 38.8 bytes per clock, 6,620 (128x128:
// 4,966), with shared W 9,933 (6,620). A tile adds about 1,500 clocks, with results in f32 about
// 2,500: 128 KiB pass through shared memory in two halves, and the second waits until the first has
// been read; a square tile adds half of that. Modelled, not measured.
//
// Expected for m, n, k >= 4096: w8a8 92 % of the dense peak, in f32 90 %, or what the GPU's power
// limit permits. The ends of tiles cost 4 % (7 %), a tail wave that fills 97 % of the device 3 %.
// Without sharing W: L2's 81 %, less the same. e4m3: 76 %, since L2 gives square tiles 81 %. Its
// additions, 64 of a thread per slice, run under the other warpgroup's products.
//
// Why not mma's loop: mma.sync reaches 63 % of the Tensor Cores and takes its operands through
// registers. Why scales are exchanged by shuffles and not read from shared memory: 64 shuffles per
// warp cost as much, and need neither space nor barriers. Why f32 is staged in halves: a whole tile
// would leave no room for three stages. Why e4m3 does not leave all sums to the Tensor Cores: over
// thousands of k, cut bits would add up.
#include "ops/quantised_matmul/variants.h"

#include "instructions/cluster.h"
#include "instructions/elect.h"
#include "instructions/setmaxnreg.h"
#include "primitives/pack.h"
#include "primitives/warp.h"
#include "primitives/warp_store.h"
#include "primitives/warpgroup_product.h"
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace kg::quantised_matmul {
namespace {

constexpr Tile kSquareTile{.m = 128, .n = 128, .stages = 5};
constexpr Tile kWideTile{.m = 128, .n = 256, .stages = 3};
__host__ __device__ constexpr Tile tile_of(bool wide) { return wide ? kWideTile : kSquareTile; }

template <Kind kind>
constexpr ptx::MatrixElement kElement =
    kind == Kind::w8a8 ? ptx::MatrixElement::s8 : ptx::MatrixElement::e4m3;
template <Kind kind>
using SumOf = std::conditional_t<kind == Kind::w8a8, int, float>;

// A warp stages 8 KiB of results at a time: 256 columns of 16 bits, or 128 of 32.
template <class T, Tile kTile>
using Store = WarpStore<T, kTile.n, std::min(kTile.n, 512 / static_cast<int>(sizeof(T)))>;
template <class T, Tile kTile>
using Memory = TileMemory<kTile, Store<T, kTile>::kBytes>;
template <Kind kind, Tile kTile>
using Product = WarpgroupProduct<std::uint8_t, kElement<kind>, kTile, true, true>;

// The scales of a warp's 16 rows and kColumns columns: a lane has those of the rows of its sums,
// and those of every 32nd column.
template <int kColumns>
struct Scales {
  float of_x[2], of_w[kColumns / kLanes];

  // Scales behind the last row or column are 0.
  template <class T>
  __device__ __forceinline__ Scales(const Problem<T>& p, std::int64_t row, std::int64_t column) {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    KG_UNROLL
    for (int half = 0; half < 2; ++half) {
      const std::int64_t of = row + lane / 4 + 8 * half;
      of_x[half] = of < p.m ? p.x_scale[of] : 0;
    }
    KG_UNROLL
    for (int i = 0; i < kColumns / kLanes; ++i) {
      const std::int64_t of = column + lane + i * kLanes;
      of_w[i] = of < p.n ? p.w_scale[of] : 0;
    }
  }

  // Converts wgmma's sums to results. All lanes call it together.
  template <class Sum>
  __device__ __forceinline__ void apply(const Sum (&sums)[kColumns / 2],
                                        float (&results)[kColumns / 2]) const {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    KG_UNROLL
    for (int i = 0; i < kColumns / 4; ++i) { // columns 8 j + 2 (lane % 4) + e
      const int j = i / 2, e = i % 2;
      const float w = __shfl_sync(kAllLanes, of_w[j / 4], j % 4 * 8 + lane % 4 * 2 + e);
      KG_UNROLL
      for (int half = 0; half < 2; ++half) {
        const int at = 4 * j + 2 * half + e;
        results[at] = static_cast<float>(sums[at]) * of_x[half] * w;
      }
    }
  }
};

} // namespace

template <Kind kind, class T, bool kWide>
__global__ void __launch_bounds__(tile_of(kWide).threads(), 1)
    wgmma(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap w,
          const __grid_constant__ TensorMap y, Problem<T> p, TileGrid grid, int slices,
          unsigned sharers) {
  constexpr Tile kTile = tile_of(kWide);
  using Own = Product<kind, kTile>;
  unsigned char* const memory = swizzled_tiles();
  auto& pipeline = Memory<T, kTile>::pipeline(memory);
  if (threadIdx.x == 0) pipeline.init(sharers * kTile.consumers());
  ptx::cluster_sync();

  const int warp = static_cast<int>(threadIdx.x) / kLanes, warpgroup = warp / 4;
  if (warpgroup == kTile.consumers()) {
    ptx::setmaxnreg_dec<kProducerRegisters>();
    if (warp % 4 == 0 && ptx::elect_sync())
      Own::produce(x, w, {true, true}, grid, slices, sharers, memory, pipeline);
  } else {
    ptx::setmaxnreg_inc<kConsumerRegisters>();
    unsigned char* const staged = Memory<T, kTile>::staging(memory, warp);
    typename Own::Pipeline::State state;
    for (TileScheduler scheduler(grid); scheduler.has_tile(); scheduler.advance()) {
      const TilePlace tile = scheduler.place();
      const std::int64_t row = std::int64_t{tile.row} * kTile.m + warp * 16;
      const std::int64_t column = std::int64_t{tile.column} * kTile.n;
      const Scales<kTile.n> scales(p, row, column);
      SumOf<kind> sums[kTile.n / 2] = {};
      const int rows = warpgroup * kWarpgroupRows;
      if constexpr (kind == Kind::e4m3)
        Own::multiply_in_two_levels(slices, rows, sharers, memory, pipeline, state, sums);
      else
        Own::multiply(slices, rows, sharers, memory, pipeline, state, sums);
      float results[kTile.n / 2];
      scales.apply(sums, results);
      Store<T, kTile>::begin(y, static_cast<int>(row), static_cast<int>(column), 0, 1.0F, results,
                             staged);
    }
    Store<T, kTile>::end();
  }
  // The other block's consumers also release this block's last stages.
  __syncwarp();
  ptx::cluster_sync();
}

namespace {

template <class T>
std::int64_t count_tiles(const Problem<T>& p, const Tile& tile) {
  return div_up(p.m, tile.m) * div_up(p.n, tile.n);
}

template <Kind kind, class T, bool kWide>
void launch_tiles(const Problem<T>& p, Stream& stream) {
  constexpr Tile kTile = tile_of(kWide);
  using Own = Product<kind, kTile>;
  TensorMap x{}, w{};
  if (p.k > 0) { // else X and W may be null
    x = Own::A::map(static_cast<const std::uint8_t*>(p.x8), TensorType::u8, p.m, p.k, p.k, 1, 0);
    w = Own::B::map(static_cast<const std::uint8_t*>(p.w), TensorType::u8, p.n, p.k, p.k, 1, 0);
  }
  const TensorMap y = Store<T, kTile>::map(p.y, kTensorType<T>, p.m, p.n, p.n, 1, 0);
  const std::int64_t rows = div_up(p.m, kTile.m);
  const TileGrid grid{static_cast<unsigned>(rows), static_cast<unsigned>(div_up(p.n, kTile.n)), 1};
  auto* const kernel = wgmma<kind, T, kWide>;
  const unsigned sharers = sharers_of(rows);
  const LaunchConfig config =
      persistent_launch(kernel, kTile, Memory<T, kTile>::kBytes, grid.count(), sharers, stream);
  launch(kernel, config, x, w, y, p, grid, static_cast<int>(div_up(p.k, Own::kDepth)), sharers);
}

} // namespace

template <class T>
bool wgmma_fits(const Problem<T>& p) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() - kWideTile.n;
  return p.n <= kMost && p.k <= kMost && count_tiles(p, kSquareTile) <= kMost &&
         p.k % kPackBytes == 0 && p.n % kPackElements<T> == 0 && is_aligned(p.y) &&
         is_aligned(static_cast<const std::uint8_t*>(p.x8)) &&
         is_aligned(static_cast<const std::uint8_t*>(p.w));
}

template <Kind kind, class T>
void launch_wgmma(const Problem<T>& p, Stream& stream) {
  // A multiprocessor computes a wide tile in the time of two others.
  const auto rounds = [&](const Tile& tile) {
    return div_up(count_tiles(p, tile), device_properties().sm_count);
  };
  if constexpr (kind == Kind::w8a8)
    if (2 * rounds(kWideTile) <= rounds(kSquareTile)) return launch_tiles<kind, T, true>(p, stream);
  launch_tiles<kind, T, false>(p, stream);
}

template bool wgmma_fits(const Problem<float>&);
template bool wgmma_fits(const Problem<f16>&);
template bool wgmma_fits(const Problem<bf16>&);
template void launch_wgmma<Kind::w8a8>(const Problem<float>&, Stream&);
template void launch_wgmma<Kind::w8a8>(const Problem<f16>&, Stream&);
template void launch_wgmma<Kind::w8a8>(const Problem<bf16>&, Stream&);
template void launch_wgmma<Kind::e4m3>(const Problem<float>&, Stream&);
template void launch_wgmma<Kind::e4m3>(const Problem<f16>&, Stream&);
template void launch_wgmma<Kind::e4m3>(const Problem<bf16>&, Stream&);

} // namespace kg::quantised_matmul
