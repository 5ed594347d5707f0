// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention, variant wgmma, for f16 and bf16 on compute capability 9.0 (the pipeline of Shah et
// al., "FlashAttention-3", arXiv 2407.08608). Persistent blocks, one per multiprocessor, process
// tiles of 128 queries of one head, or 192 at a depth of 64. A producer warp issues bulk copies of
// Q and of tiles of 128 keys and values, or 64 beyond a depth of 192, into a pipeline of two
// stages. Consumer warpgroups have 64 queries each. They multiply by wgmma: Q and K from shared
// memory, the weights from registers, V from shared memory as it lies.
//
// Two things run beside the exponentials, which take half as long as the products. Within a
// warpgroup, the scores of tile t and the results of tile t - 1 are issued together, and the
// weights of tile t are computed while the latter are still pending. Between warpgroups, named
// barriers pass on the turn to issue products, so that one warpgroup's products run beside
// another's exponentials.
//
// Tensor maps require rows of all tensors to be aligned to 16 bytes and, for ragged sequences, the
// total numbers of tokens. flash handles other problems, and those with a bias: its loads would
// wait within the turn of a warpgroup. Ragged sequences and key_lengths: rows
// after the last key may hold anything, and a weight of 0 does not hide a NaN. The last tile of V
// is therefore loaded by boxes of 8 rows and of one, and what follows the last key is filled with
// zeros.
//
// Bytes: as flash, with K and V once from L2 per tile of queries. In flight: Q and two tiles of K
// and V, 160 KiB at a depth of 128. Flops: 2 (depth + value_depth) per unmasked pair, rounded up to
// tiles and to depths of 64, 128, 192 or 256. Limits on an H200 at a depth of 128, per tile of 128
// x 128: Tensor Cores 2,048 clocks; special functions 1,024; L2, at 38.8 bytes per clock, 1,690;
// issue about 870. Expected of the main loop, by simulation of the machine code and not measured:
// 52, 73, 80 and 91 % of the dense peak at depths of 64, 128, 192 and 256; less by the power limit,
// the ends of tiles and, with a causal mask, the diagonal. Why a warpgroup has 64 queries and not
// 128: scores, weights and results of 128 do not fit its registers. Why K and V have two stages and
// not more: shared memory. Why no cluster shares K and V: L2 is not the limit.
//
// Blocks take tiles from the last queries to the first, all heads of one position before the next:
// with a causal mask the last queries have the most keys. If K and V of all heads exceed half of
// L2, fewer heads are processed at a time.
#include "instructions/elect.h"
#include "instructions/fence_proxy_async.h"
#include "instructions/named_barrier.h"
#include "instructions/opaque.h"
#include "instructions/setmaxnreg.h"
#include "ops/attention/row_softmax.h"
#include "ops/attention/variants.h"
#include "ops/attention/visible.h"
#include "ops/attention/warp_rows.h"
#include "ops/attention/wgmma_tiles.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kg::attention {

namespace {

// The kernel's tensor maps. v_groups, v_row: for load_rows().
struct Maps {
  const TensorMap &q, &k, &v, &v_groups, &v_row;
};

// One thread loads Q, K and V of all tiles of the block.
template <class Shape, class T>
__device__ __forceinline__ void produce(const Maps& maps, const Problem<T>& p,
                                        const TileOrder& order, unsigned char* memory,
                                        typename Shape::Barriers& barriers) {
  using TileQ = typename Shape::TileQ;
  using TileK = typename Shape::TileK;
  using TileV = typename Shape::TileV;
  PipelineState<1> of_q;
  PipelineState<Shape::kStages> of_keys;
  for (unsigned number = blockIdx.x; number < order.count(); number += gridDim.x) {
    const TileOrder::Place place = order.place(number);
    const Head<T> head(p, place.head);
    const QueryTile<Shape> tile(p, head, place.tile);
    if (!tile.exists()) continue;
    const int sequence = p.query_offsets == nullptr ? head.sequence : 0;
    const HeadPlace of_queries{sequence, head.head, static_cast<int>(head.query_tokens.first)};
    const HeadPlace keys{sequence, head.key_head, static_cast<int>(head.key_tokens.first)};
    const auto load_q = [&]() __attribute__((always_inline)) {
      barriers.q.producer_acquire(of_q, TileQ::kBytes);
      TileQ::load(memory, maps.q, of_queries, tile.first_query, barriers.q.full(of_q));
      of_q.advance();
    };
    if (tile.first_key >= tile.end_key) load_q();
    for (int key = tile.first_key; key < tile.end_key; key += Shape::kKeys, of_keys.advance()) {
      unsigned char* const k = memory + Shape::kAtK + of_keys.stage() * TileK::kBytes;
      unsigned char* const v = memory + Shape::kAtV + of_keys.stage() * TileV::kBytes;
      barriers.k.producer_acquire(of_keys, TileK::kBytes);
      TileK::load(k, maps.k, keys, key, barriers.k.full(of_keys));
      if (key == tile.first_key) load_q();
      barriers.v.producer_acquire(of_keys, TileV::kBytes);
      // Beyond the last key there may be other rows, in other sequences or masked by lengths.
      const bool ends =
          head.keys - key < Shape::kKeys && (p.key_offsets != nullptr || p.key_lengths != nullptr);
      if (ends)
        TileV::load_rows(v, maps.v_groups, maps.v_row, keys, key, head.keys - key,
                         barriers.v.full(of_keys));
      else
        TileV::load(v, maps.v, keys, key, barriers.v.full(of_keys));
    }
  }
}

// Named barriers, one per consumer warpgroup: its turn to issue products.
template <class Shape>
struct Turns {
  int warpgroup;
  __device__ __forceinline__ void take() const {
    ptx::named_barrier_sync(1 + warpgroup, 2 * kWarpgroup);
  }
  __device__ __forceinline__ void pass_on() const {
    const int next = warpgroup + 1 == Shape::kConsumers ? 0 : warpgroup + 1;
    ptx::named_barrier_arrive(1 + next, 2 * kWarpgroup);
  }
};

// A thread's sums, four for each 8 columns.
template <int kCount>
__device__ __forceinline__ auto by_columns(float (&sums)[kCount]) -> float (&)[kCount / 4][4] {
  return reinterpret_cast<float(&)[kCount / 4][4]>(sums);
}

// Starts scores = Q K^T of the warpgroup's rows.
template <class T, class Shape>
__device__ __forceinline__ void multiply_keys(const unsigned char* q, const unsigned char* k,
                                              int row, float (&scores)[Shape::kKeys / 2]) {
  const ptx::MatrixDescriptor of_q = Shape::TileQ::by_depth(q, row);
  const ptx::MatrixDescriptor of_k = Shape::TileK::by_depth(k, 0);
  ptx::wgmma_fence();
  KG_UNROLL
  for (unsigned step = 0; step < Shape::kDepth / 16; ++step)
    ptx::wgmma<kMatrixElement<T>>(scores, of_q + Shape::TileQ::depth_step(step),
                                  of_k + Shape::TileK::depth_step(step), step > 0);
  ptx::wgmma_commit();
}

// Starts out += weights V.
template <class T, class Shape>
__device__ __forceinline__ void multiply_values(const unsigned (&weights)[Shape::kKeys / 16][4],
                                                const unsigned char* v,
                                                float (&out)[Shape::kValueDepth / 2]) {
  const ptx::MatrixDescriptor of_v = Shape::TileV::by_rows(v);
  ptx::wgmma_fence();
  KG_UNROLL
  for (unsigned step = 0; step < Shape::kKeys / 16; ++step)
    ptx::wgmma<kMatrixElement<T>, false>(out, weights[step], of_v + Shape::TileV::row_step(step),
                                         true);
  ptx::wgmma_commit();
}

// Rounds weights to operand A of wgmma: 16 keys each.
template <class T, int kKeys>
__device__ __forceinline__ void round_weights(const float (&score)[kKeys / 8][4],
                                              unsigned (&weights)[kKeys / 16][4]) {
  KG_UNROLL_UNIFORM
  for (int step = 0; step < kKeys / 16; ++step) {
    KG_UNROLL_UNIFORM
    for (int i = 0; i < 4; ++i) {
      const float(&pairs)[4] = score[2 * step + i / 2];
      weights[step][i] = pack_pair<T>(pairs[i % 2 * 2], pairs[i % 2 * 2 + 1]);
    }
  }
}

// Hides masked scores of the tile of keys from `key` on. row: of the lane within the tile of
// queries.
template <class Shape, class T>
__device__ __forceinline__ void mask(const Problem<T>& p, const Head<T>& head,
                                     const QueryTile<Shape>& tile, int row, int key, int clear_end,
                                     float (&score)[Shape::kKeys / 8][4]) {
  if (p.window == 0 && key + Shape::kKeys <= clear_end) return;
  const int query = tile.first_query + row;
  const Visible visible[2] = {head.visible(p, query), head.visible(p, query + 8)};
  hide(visible, key, static_cast<int>(threadIdx.x) % 4 * 2, score);
}

// Writes a warp's 16 rows of results, by way of its rows of Q in shared memory.
template <class Shape, class T>
__device__ __forceinline__ void
finish(const Arguments<T>& a, int number, const QueryTile<Shape>& tile, int row,
       RunningRow (&running)[2], const float (&out)[Shape::kValueDepth / 8][4], T* place) {
  using TileQ = typename Shape::TileQ;
  ptx::make_opaque(row); // keeps addresses from being computed once per block, and spilled
  const Problem<T>& p = a.problem;
  const Head<T> head(p, number); // again: held in registers since the start, it would be spilled
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float normalizer[2];
  KG_UNROLL_UNIFORM
  for (int half = 0; half < 2; ++half) {
    running[half].sum = row_sum(running[half].sum);
    normalizer[half] = running[half].normalizer();
    const int r = row + lane / 4 + 8 * half;
    if (head.log_sum != nullptr && lane % 4 == 0 && r < tile.queries)
      head.log_sum[tile.first_query + r] = running[half].log_sum(p.scale);
  }
  put_rows<TileQ>(out, normalizer[0], normalizer[1], row, 0, place);
  __syncwarp();
  store_rows<TileQ, Shape::kValueDepth / kChunk>(
      place, row, 0, head.out + tile.first_query * p.out_stride.token, p.out_stride.token,
      tile.queries, static_cast<int>(p.value_depth), true);
}

// Returns the value. ptxas moves exponentials below the wait for other products, where nothing runs
// beside them, but moves no shuffle across the loop of an mbarrier wait, nor what the shuffle
// needs.
__device__ __forceinline__ float kept_above(float value) {
  return __shfl_xor_sync(0xffffffffu, value, 0);
}

// The value, which all lanes hold, in a uniform register: descriptors need no copy to one then.
__device__ __forceinline__ int uniform(int value) { return __shfl_sync(0xffffffffu, value, 0); }

// A consumer warpgroup computes the results of its 64 queries of all tiles of the block.
template <class Shape, class T>
__device__ __forceinline__ void consume(const Arguments<T>& a, const TileOrder& order,
                                        unsigned char* memory, typename Shape::Barriers& barriers) {
  using State = PipelineState<Shape::kStages>;
  const Problem<T>& p = a.problem;
  const int warpgroup = uniform(static_cast<int>(threadIdx.x) / kWarpgroup);
  const int group_row = warpgroup * kWarpgroupRows;
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * kWarpRows;
  const int row = warp_row + static_cast<int>(threadIdx.x) % 32 / 4;
  const bool releases = threadIdx.x % kWarpgroup == 0;
  const Turns<Shape> turns{warpgroup};
  const float by = p.scale * kLog2E;
  const auto tile_k = [&](const State& state) __attribute__((always_inline)) {
    return memory + Shape::kAtK + uniform(state.stage()) * Shape::TileK::kBytes;
  };
  const auto tile_v = [&](const State& state) __attribute__((always_inline)) {
    return memory + Shape::kAtV + uniform(state.stage()) * Shape::TileV::kBytes;
  };
  if (warpgroup == Shape::kConsumers - 1) turns.pass_on(); // the first warpgroup begins

  PipelineState<1> of_q;
  State now;
  for (unsigned number = blockIdx.x; number < order.count(); number += gridDim.x) {
    const TileOrder::Place place = order.place(number);
    const Head<T> head(p, place.head);
    const QueryTile<Shape> tile(p, head, place.tile);
    if (!tile.exists()) continue;
    const int clear_end = head.visible(p, tile.first_query + group_row).end;
    RunningRow running[2];
    float out[Shape::kValueDepth / 2] = {};
    barriers.q.consumer_wait(of_q);
    if (tile.first_key < tile.end_key) {
      float scores[Shape::kKeys / 2], factor[2];
      unsigned weights[Shape::kKeys / 16][4];
      barriers.k.consumer_wait(now);
      multiply_keys<T, Shape>(memory, tile_k(now), group_row, scores);
      ptx::wgmma_wait_group<0>(scores);
      if (releases) barriers.k.consumer_release(now, 0);
      mask(p, head, tile, row, tile.first_key, clear_end, by_columns(scores));
      raise_rows(by_columns(scores), by, running, factor);
      weigh(by_columns(scores), by, running);
      round_weights<T, Shape::kKeys>(by_columns(scores), weights);
      State before = now;
      now.advance();
      if (tile.first_key + Shape::kKeys < tile.end_key) barriers.k.consumer_wait(now);
      KG_ROLLED
      for (int key = tile.first_key + Shape::kKeys; key < tile.end_key; key += Shape::kKeys) {
        turns.take();
        multiply_keys<T, Shape>(memory, tile_k(now), group_row, scores);
        barriers.v.consumer_wait(before);
        multiply_values<T, Shape>(weights, tile_v(before), out);
        turns.pass_on();
        ptx::wgmma_wait_group<1>(scores);
        if (releases) barriers.k.consumer_release(now, 0);
        mask(p, head, tile, row, key, clear_end, by_columns(scores));
        raise_rows(by_columns(scores), by, running, factor);
        weigh(by_columns(scores), by, running);
        for (RunningRow& own : running) own.sum = kept_above(own.sum);
        const State current = now;
        now.advance();
        if (key + Shape::kKeys < tile.end_key) barriers.k.consumer_wait(now);
        ptx::wgmma_wait_group<0>(out);
        if (releases) barriers.v.consumer_release(before, 0);
        round_weights<T, Shape::kKeys>(by_columns(scores), weights);
        rescale(by_columns(out), factor);
        before = current;
      }
      barriers.v.consumer_wait(before);
      multiply_values<T, Shape>(weights, tile_v(before), out);
      ptx::wgmma_wait_group<0>(out);
      if (releases) barriers.v.consumer_release(before, 0);
    }
    finish(a, place.head, tile, warp_row, running, by_columns(out), reinterpret_cast<T*>(memory));
    ptx::fence_proxy_async_shared(); // the next rows of Q overwrite the results
    __syncwarp();
    if (threadIdx.x % 32 == 0) barriers.q.consumer_release(of_q, 0);
    of_q.advance();
  }
  if (warpgroup == 0) turns.take(); // the last turn
}

} // namespace

template <class T, int kDepth, int kValueDepth>
__global__ void __launch_bounds__(Shape<kDepth, kValueDepth>::kThreads, 1)
    wgmma(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k,
          const __grid_constant__ TensorMap v, const __grid_constant__ TensorMap v_groups,
          const __grid_constant__ TensorMap v_row, Arguments<T> a, TileOrder order) {
  using Own = Shape<kDepth, kValueDepth>;
  unsigned char* const memory = swizzled_tiles();
  auto& barriers = *reinterpret_cast<typename Own::Barriers*>(memory + Own::kAtBarriers);
  if (threadIdx.x == 0) {
    barriers.q.init(Own::kConsumers * kWarpgroup / 32);
    barriers.k.init(Own::kConsumers);
    barriers.v.init(Own::kConsumers);
  }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp / 4 == Own::kConsumers) {
    ptx::setmaxnreg_dec<Own::kProducerRegisters>();
    if (warp % 4 == 0 && ptx::elect_sync())
      produce<Own>({q, k, v, v_groups, v_row}, a.problem, order, memory, barriers);
  } else {
    ptx::setmaxnreg_inc<Own::kConsumerRegisters>();
    consume<Own>(a, order, memory, barriers);
  }
}

namespace {

// Calls body.template operator()<kDepth, kValueDepth>() for the smallest kernel that holds these
// dimensions.
template <class Body>
auto with_depths(std::int64_t depth, std::int64_t value_depth, Body body) {
  if (depth <= 64) return body.template operator()<64, 64>();
  if (depth <= 128) return body.template operator()<128, 128>();
  if (depth <= 192 && value_depth <= 128) return body.template operator()<192, 128>();
  return body.template operator()<256, 256>();
}

// Heads whose K and V fill half of L2: the heads of Q that share them are neighbours.
template <class T>
unsigned section_of(const Problem<T>& p) {
  const double bytes =
      sizeof(T) * static_cast<double>(p.keys) * static_cast<double>(p.depth + p.value_depth);
  const double heads = 0.5 * static_cast<double>(device_properties().l2_bytes) / bytes;
  const std::int64_t all = p.batch * p.kv_heads;
  const std::int64_t fitting = heads < static_cast<double>(all)
                                   ? std::max<std::int64_t>(static_cast<std::int64_t>(heads), 1)
                                   : all;
  return static_cast<unsigned>(fitting * (p.heads / p.kv_heads));
}

} // namespace

template <class T>
void run_wgmma(const Arguments<T>& a, Stream& stream) {
  const Problem<T>& p = a.problem;
  with_depths(p.depth, p.value_depth, [&]<int kDepth, int kValueDepth>() {
    using Own = Shape<kDepth, kValueDepth>;
    const std::int64_t heads = p.batch * p.heads, tiles = div_up(p.queries, Own::kQueries);
    const unsigned count = tile_blocks(tiles, heads);
    const TileOrder order{static_cast<unsigned>(heads), static_cast<unsigned>(tiles),
                          section_of(p)};
    const auto multiprocessors = static_cast<unsigned>(device_properties().sm_count);
    const bool ragged = p.query_offsets != nullptr;
    const std::int64_t sequences = ragged ? 1 : p.batch;
    const std::int64_t keys = ragged ? p.total_keys : p.keys;
    const TokenExtents of_q{sequences, p.heads, ragged ? p.total_queries : p.queries, p.depth};
    const TokenExtents of_k{sequences, p.kv_heads, keys, p.depth};
    const TokenExtents of_v{sequences, p.kv_heads, keys, p.value_depth};
    const auto map_v = [&](int rows) { return boxes_map(p.v, p.v_stride, of_v, rows); };
    launch(wgmma<T, kDepth, kValueDepth>,
           {.grid = std::min(count, multiprocessors),
            .block = Own::kThreads,
            .shared_bytes = Own::kSharedBytes,
            .stream = &stream},
           boxes_map(p.q, p.q_stride, of_q, Own::kQueries),
           boxes_map(p.k, p.k_stride, of_k, Own::kKeys), map_v(Own::kKeys), map_v(kSwizzleRows),
           map_v(1), a, order);
  });
}

template void run_wgmma(const Arguments<f16>&, Stream&);
template void run_wgmma(const Arguments<bf16>&, Stream&);

} // namespace kg::attention
