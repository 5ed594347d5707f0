// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_backward, variant flash: dK and dV (see attention_backward_flash.cu).
#include "instructions/cp_async.h"
#include "instructions/exp2.h"
#include "ops/attention_backward/flash_form.h"
#include "ops/attention_backward/variants.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <cstdint>

namespace kg::attention_backward {

template <class T, int kDepth, int kValueDepth>
__global__ void __launch_bounds__(KeyForm<T, kDepth, kValueDepth>::kThreads,
                                  KeyForm<T, kDepth, kValueDepth>::kLeastBlocks)
    flash_keys(Arguments<T> a) {
  using F = KeyForm<T, kDepth, kValueDepth>;
  const Problem<T>& p = a.problem;
  const attention::Problem<T>& f = p.forward;
  const auto tiles = static_cast<unsigned>((f.keys + kTile - 1) / kTile);
  const auto group = static_cast<int>(f.heads / f.kv_heads);
  const int number = static_cast<int>(blockIdx.x / tiles) * group; // first head of the group
  const Head<T> head(p, number);
  const int first_key = static_cast<int>(blockIdx.x % tiles) * kTile;
  if (first_key >= head.key_tokens.count) return; // a sequence shorter than the longest
  const int keys = head.keys - first_key < kTile ? head.keys - first_key : kTile;
  // The block's queries: from the first that sees its first key to the last that sees its last key.
  const int first_query = head.seen_by(f, first_key).first;
  const int end_query = keys <= 0 ? 0 : head.seen_by(f, first_key + keys - 1).end;
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int warp_row = warp % kWarps * kWarpRows, half_of_columns = warp / kWarps;
  const auto depth = static_cast<int>(f.depth), value_depth = static_cast<int>(f.value_depth);

  T* const tile_k = dynamic_shared<T>();
  T* const tile_v = tile_k + F::OwnWide::kElements;
  T* const stages = tile_v + F::OwnValue::kElements;
  const auto fetch = [&](int of_group, int query, int number_of_stage)
      __attribute__((always_inline)) {
    T* const stage = stages + number_of_stage * F::kStage;
    const int count = end_query - query;
    F::Wide::fetch(head.q + of_group * f.q_stride.head + query * f.q_stride.token, f.q_stride.token,
                   count, depth, a.vector, stage);
    F::Value::fetch(head.dout + of_group * p.dout_stride.head + query * p.dout_stride.token,
                    p.dout_stride.token, count, value_depth, a.vector, stage + F::Wide::kElements);
    const auto own = static_cast<int>(threadIdx.x);
    if (own < F::kStep) {
      const bool exists = own < count;
      const std::int64_t row = (number + of_group) * f.queries + query + own;
      ptx::cp_async_ca<sizeof(Row)>(
          reinterpret_cast<Row*>(stage + F::Wide::kElements + F::Value::kElements) + own,
          p.workspace + (exists ? 2 * row : 0), exists ? sizeof(Row) : 0);
    }
  };
  F::OwnWide::fetch(head.k + first_key * f.k_stride.token, f.k_stride.token, keys, depth, a.vector,
                    tile_k);
  F::OwnValue::fetch(head.v + first_key * f.v_stride.token, f.v_stride.token, keys, value_depth,
                     a.vector, tile_v);
  if (first_query < end_query) fetch(0, first_query, 0);
  ptx::cp_async_commit();

  // Lane 4 r + c: keys r and r + 8 of the warp, and queries 2 c and 2 c + 1 of each 8.
  const int key = first_key + warp_row + lane / 4, column = lane % 4 * 2;
  const float by = a.score_unit() * kLog2E;
  float dk[1][F::kSums][4] = {}, dv[1][F::kValueSums][4] = {};
  int stage = 0;
  for (int of_group = 0; of_group < group; ++of_group)
    for (int query = first_query; query < end_query; query += F::kStep, stage ^= 1) {
      ptx::cp_async_wait_all();
      __syncthreads(); // these queries have arrived; all warps are done with the previous ones
      const bool last = query + F::kStep >= end_query; // of this head
      if (of_group + last < group)
        fetch(of_group + last, last ? first_query : query + F::kStep, stage ^ 1);
      ptx::cp_async_commit();
      const T* const tile_q = stages + stage * F::kStage;
      const T* const tile_dout = tile_q + F::Wide::kElements;
      const auto* const sums = reinterpret_cast<const Row*>(tile_dout + F::Value::kElements);

      float score[1][F::kScores][4] = {}, gradient[1][F::kScores][4] = {};
      add_rows<typename F::OwnWide, typename F::Wide>(
          tile_k + warp_row * kDepth, F::OwnWide::of_rows(), tile_q, F::Wide::of_columns(), score);
      add_rows<typename F::OwnValue, typename F::Value>(tile_v + warp_row * kValueDepth,
                                                        F::OwnValue::of_rows(), tile_dout,
                                                        F::Value::of_columns(), gradient);
      if (f.bias != nullptr)
        attention::add_bias(
            Head<T>(p, number + of_group).bias + (query + column) * f.bias_stride.token + key, 1,
            f.bias_stride.token, head.keys - key, end_query - query - column, f.scale, score[0]);
      const Visible seen[2] = {head.seen_by(f, key), head.seen_by(f, key + 8)};
      attention::hide(seen, query, column, score[0]);
      KG_UNROLL_UNIFORM
      for (int j = 0; j < F::kScores; ++j) {
        const auto both = *reinterpret_cast<const Pack<Row, 2>*>(sums + column + 8 * j);
        KG_UNROLL_UNIFORM
        for (int i = 0; i < 4; ++i) {
          const Row& row = both.element[i % 2];
          score[0][j][i] = ptx::exp2_flushed(row.exponent(score[0][j][i], by));
          gradient[0][j][i] = row.gradient(score[0][j][i], gradient[0][j][i]);
        }
      }
      add_weighted<typename F::Value>(score, tile_dout, F::Value::of_rows(),
                                      half_of_columns * F::kValueSums, dv);
      add_weighted<typename F::Wide>(gradient, tile_q, F::Wide::of_rows(),
                                     half_of_columns * F::kSums, dk);
    }
  ptx::cp_async_wait_all(); // for K and V, if no query sees them

  // The gradients replace K and V in shared memory, and are stored in whole chunks.
  __syncthreads();
  put_rows<typename F::OwnWide>(dk[0], f.scale, f.scale, warp_row, half_of_columns * F::kSums,
                                tile_k);
  put_rows<typename F::OwnValue>(dv[0], 1, 1, warp_row, half_of_columns * F::kValueSums, tile_v);
  __syncwarp();
  const Head<T> to(p, number); // recomputed: live through the loop, it would take registers
  const int rows = to.key_tokens.count - first_key;
  store_rows<typename F::OwnWide, F::kSums>(tile_k, warp_row, half_of_columns * F::kSums,
                                            to.dk + first_key * p.dk_stride.token,
                                            p.dk_stride.token, rows, depth, a.vector);
  store_rows<typename F::OwnValue, F::kValueSums>(tile_v, warp_row, half_of_columns * F::kValueSums,
                                                  to.dv + first_key * p.dv_stride.token,
                                                  p.dv_stride.token, rows, value_depth, a.vector);
}

template <class T>
void run_flash_keys(const Arguments<T>& a, Stream& stream) {
  const attention::Problem<T>& f = a.problem.forward;
  const std::int64_t blocks = f.batch * f.kv_heads * div_up(f.keys, kTile);
  if (blocks == 0) return;
  attention::with_flash_depths(f.depth, f.value_depth, [&]<int kDepth, int kValueDepth>() {
    using F = KeyForm<T, kDepth, kValueDepth>;
    launch(flash_keys<T, kDepth, kValueDepth>,
           {.grid = grid_x(blocks, "attention_backward: the tiles of 64 keys of all heads",
                           "split the batch"),
            .block = F::kThreads,
            .shared_bytes = F::kSharedBytes,
            .stream = &stream},
           a);
  });
}

template void run_flash_keys(const Arguments<f16>&, Stream&);
template void run_flash_keys(const Arguments<bf16>&, Stream&);

} // namespace kg::attention_backward
