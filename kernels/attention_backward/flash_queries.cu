// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_backward, variant flash: dQ (attention_backward_flash.cu says how).
#include "attention_backward/flash_form.h"
#include "attention_backward/variants.h"
#include "ptx/cp_async.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <cstdint>

namespace kg::attention_backward {

template <class T, int kDepth, int kValueDepth>
__global__ void __launch_bounds__(QueryForm<T, kDepth, kValueDepth>::kThreads,
                                  QueryForm<T, kDepth, kValueDepth>::kLeastBlocks)
    flash_queries(Arguments<T> a) {
  using F = QueryForm<T, kDepth, kValueDepth>;
  const Problem<T>& p = a.problem;
  const attention::Problem<T>& f = p.forward;
  const auto tiles = static_cast<unsigned>((f.queries + kTile - 1) / kTile);
  const int number = static_cast<int>(blockIdx.x / tiles);
  const Head<T> head(p, number);
  const int first_query = static_cast<int>(tiles - 1 - blockIdx.x % tiles) * kTile;
  const int rows = head.queries - first_query;
  if (rows <= 0) return; // of a sequence that is shorter than others
  const int first_key = head.visible(f, first_query).first;
  const int end_key = head.visible(f, first_query + (rows < kTile ? rows : kTile) - 1).end;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp_row = static_cast<int>(threadIdx.x / 32) * kWarpRows;
  const auto depth = static_cast<int>(f.depth), value_depth = static_cast<int>(f.value_depth);

  T* const tile_q = dynamic_shared<T>();
  T* const tile_dout = tile_q + F::OwnWide::kElements;
  T* const stages = tile_dout + F::OwnValue::kElements;
  const auto fetch = [&](int key, int number) __attribute__((always_inline)) {
    T* const stage = stages + number * F::kStage;
    F::Wide::fetch(head.k + key * f.k_stride.token, f.k_stride.token, end_key - key, depth,
                   a.vector, stage);
    F::Value::fetch(head.v + key * f.v_stride.token, f.v_stride.token, end_key - key, value_depth,
                    a.vector, stage + F::Wide::kElements);
  };
  F::OwnWide::fetch(head.q + first_query * f.q_stride.token, f.q_stride.token, rows, depth,
                    a.vector, tile_q);
  F::OwnValue::fetch(head.dout + first_query * p.dout_stride.token, p.dout_stride.token, rows,
                     value_depth, a.vector, tile_dout);
  if (first_key < end_key) fetch(first_key, 0);
  ptx::cp_async_commit();

  // A lane has queries r and r + 8 of the warp, and keys 2 c and 2 c + 1 of each 8.
  const int own = warp_row + lane / 4, column = lane % 4 * 2;
  const Visible visible[2] = {head.visible(f, first_query + own),
                              head.visible(f, first_query + own + 8)};
  const float by = a.score_unit() * kLog2E;
  Row row[2];
  KG_UNROLL_UNIFORM
  for (int half = 0; half < 2; ++half) {
    const std::int64_t at = number * f.queries + first_query + own + 8 * half;
    row[half] =
        own + 8 * half < rows ? reinterpret_cast<const Row*>(p.workspace)[at] : Row{INFINITY, 0};
  }
  float dq[1][F::kSums][4] = {};
  for (int key = first_key, stage = 0; key < end_key; key += F::kStep, stage ^= 1) {
    ptx::cp_async_wait_all();
    __syncthreads(); // these keys have come, and nobody needs those before them
    if (key + F::kStep < end_key) fetch(key + F::kStep, stage ^ 1);
    ptx::cp_async_commit();
    const T* const tile_k = stages + stage * F::kStage;
    const T* const tile_v = tile_k + F::Wide::kElements;

    float score[1][F::kScores][4] = {}, gradient[1][F::kScores][4] = {};
    add_rows<typename F::OwnWide, typename F::Wide>(
        tile_q + warp_row * kDepth, F::OwnWide::of_rows(), tile_k, F::Wide::of_columns(), score);
    add_rows<typename F::OwnValue, typename F::Value>(tile_dout + warp_row * kValueDepth,
                                                      F::OwnValue::of_rows(), tile_v,
                                                      F::Value::of_columns(), gradient);
    if (head.bias != nullptr)
      attention::add_bias(head.bias + (first_query + own) * f.bias_stride.token + key + column,
                          f.bias_stride.token, 1, rows - own, end_key - key - column, f.scale,
                          score[0]);
    attention::hide(visible, key, column, score[0]);
    KG_UNROLL_UNIFORM
    for (int j = 0; j < F::kScores; ++j) {
      KG_UNROLL_UNIFORM
      for (int i = 0; i < 4; ++i) {
        const float weight = row[i / 2].weight(score[0][j][i], by);
        gradient[0][j][i] = row[i / 2].gradient(weight, gradient[0][j][i]);
      }
    }
    add_weighted<typename F::Wide>(gradient, tile_k, F::Wide::of_rows(), 0, dq);
  }
  ptx::cp_async_wait_all(); // of Q and dout, where no key is seen

  // Q makes room for its gradient, which leaves in whole chunks.
  __syncthreads();
  put_rows<typename F::OwnWide>(dq[0], f.scale, f.scale, warp_row, 0, tile_q);
  __syncwarp();
  const Head<T> to(p, number); // once more: through the loop it would take registers
  store_rows<typename F::OwnWide, F::kSums>(tile_q, warp_row, 0,
                                            to.dq + first_query * p.dq_stride.token,
                                            p.dq_stride.token, rows, depth, a.vector);
}

template <class T>
void run_flash_queries(const Arguments<T>& a, Stream& stream) {
  const attention::Problem<T>& f = a.problem.forward;
  const std::int64_t blocks = f.batch * f.heads * div_up(f.queries, kTile);
  if (blocks == 0) return;
  attention::with_flash_depths(f.depth, f.value_depth, [&]<int kDepth, int kValueDepth>() {
    using F = QueryForm<T, kDepth, kValueDepth>;
    launch(flash_queries<T, kDepth, kValueDepth>,
           {.grid = grid_x(blocks, "attention_backward: the tiles of 64 queries of all heads",
                           "split the batch"),
            .block = F::kThreads,
            .shared_bytes = F::kSharedBytes,
            .stream = &stream},
           a);
  });
}

template void run_flash_queries(const Arguments<f16>&, Stream&);
template void run_flash_queries(const Arguments<bf16>&, Stream&);

} // namespace kg::attention_backward
