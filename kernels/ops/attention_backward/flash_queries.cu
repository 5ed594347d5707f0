// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_backward, variant flash: dQ (see attention_backward_flash.cu).
#include "instructions/cp_async.h"
#include "instructions/exp2.h"
#include "instructions/opaque.h"
#include "ops/attention_backward/flash_form.h"
#include "ops/attention_backward/variants.h"
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
  const auto tiles = static_cast<unsigned>((f.queries + F::kOwn - 1) / F::kOwn);
  const int number = static_cast<int>(blockIdx.x / tiles);
  const Head<T> head(p, number);
  const int first_query = static_cast<int>(tiles - 1 - blockIdx.x % tiles) * F::kOwn;
  const int rows = head.queries - first_query;
  if (rows <= 0) return; // a sequence shorter than the longest
  const int first_key = head.visible(f, first_query).first;
  const int end_key = head.visible(f, first_query + (rows < F::kOwn ? rows : F::kOwn) - 1).end;
  const int lane = static_cast<int>(threadIdx.x % 32);
  // A shuffle, so that the compiler knows that all lanes have the same value.
  const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 32), 0);
  const int warp_row = warp * F::kRowBlocks * kWarpRows;
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

  // Lane 4 r + c: queries r and r + 8 of 16, and keys 2 c and 2 c + 1 of each 8.
  const int own = warp_row + lane / 4, column = lane % 4 * 2;
  const int clear_end = head.visible(f, first_query).end; // keys that all queries see
  const float by = a.score_unit() * kLog2E;
  Row row[F::kRowBlocks][2];
  KG_UNROLL_UNIFORM
  for (int block = 0; block < F::kRowBlocks; ++block) {
    KG_UNROLL_UNIFORM
    for (int half = 0; half < 2; ++half) {
      const int r = own + block * kWarpRows + 8 * half;
      const std::int64_t at = number * f.queries + first_query + r;
      row[block][half] =
          r < rows ? reinterpret_cast<const Row*>(p.workspace)[at] : Row{INFINITY, 0};
    }
  }
  float dq[F::kRowBlocks][F::kSums][4] = {};
  for (int key = first_key, stage = 0; key < end_key; key += F::kStep, stage ^= 1) {
    int lane_wide = F::OwnWide::of_rows();
    ptx::make_opaque(lane_wide); // keeps derived values from being hoisted into registers
    ptx::cp_async_wait_all();
    __syncthreads(); // these keys have arrived; all warps are done with the previous ones
    if (key + F::kStep < end_key) fetch(key + F::kStep, stage ^ 1);
    ptx::cp_async_commit();
    const T* const tile_k = stages + stage * F::kStage;
    const T* const tile_v = tile_k + F::Wide::kElements;

    float score[F::kRowBlocks][F::kScores][4] = {}, gradient[F::kRowBlocks][F::kScores][4] = {};
    add_rows<typename F::OwnWide, typename F::Wide>(tile_q + warp_row * kDepth, lane_wide, tile_k,
                                                    F::Wide::of_columns(), score);
    add_rows<typename F::OwnValue, typename F::Value>(tile_dout + warp_row * kValueDepth,
                                                      F::OwnValue::of_rows(), tile_v,
                                                      F::Value::of_columns(), gradient);
    const bool on_edge = f.window != 0 || key + F::kStep > clear_end;
    KG_UNROLL_UNIFORM
    for (int block = 0; block < F::kRowBlocks; ++block) {
      int first = own + block * kWarpRows;
      ptx::make_opaque(first);
      if (head.bias != nullptr)
        attention::add_bias(head.bias + (first_query + first) * f.bias_stride.token + key + column,
                            f.bias_stride.token, 1, rows - first, end_key - key - column, f.scale,
                            score[block]);
      if (on_edge) {
        const Visible visible[2] = {head.visible(f, first_query + first),
                                    head.visible(f, first_query + first + 8)};
        attention::hide(visible, key, column, score[block]);
      }
      KG_UNROLL_UNIFORM
      for (int j = 0; j < F::kScores; ++j) {
        KG_UNROLL_UNIFORM
        for (int i = 0; i < 4; ++i) {
          const Row& of = row[block][i / 2];
          const float weight = ptx::exp2_flushed(of.exponent(score[block][j][i], by));
          gradient[block][j][i] = of.gradient(weight, gradient[block][j][i]);
        }
      }
    }
    add_weighted<typename F::Wide>(gradient, tile_k, F::Wide::of_rows(), 0, dq);
  }
  ptx::cp_async_wait_all(); // for Q and dout, if no key is visible

  // The gradient replaces Q in shared memory, and is stored in whole chunks.
  __syncthreads();
  const Head<T> to(p, number); // recomputed: live through the loop, it would take registers
  KG_UNROLL_UNIFORM
  for (int block = 0; block < F::kRowBlocks; ++block) {
    const int first = warp_row + block * kWarpRows;
    put_rows<typename F::OwnWide>(dq[block], f.scale, f.scale, first, 0, tile_q);
    __syncwarp();
    store_rows<typename F::OwnWide, F::kSums>(tile_q, first, 0,
                                              to.dq + first_query * p.dq_stride.token,
                                              p.dq_stride.token, rows, depth, a.vector);
  }
}

template <class T>
void run_flash_queries(const Arguments<T>& a, Stream& stream) {
  const attention::Problem<T>& f = a.problem.forward;
  attention::with_flash_depths(f.depth, f.value_depth, [&]<int kDepth, int kValueDepth>() {
    using F = QueryForm<T, kDepth, kValueDepth>;
    const std::int64_t blocks = f.batch * f.heads * div_up(f.queries, F::kOwn);
    if (blocks == 0) return;
    launch(flash_queries<T, kDepth, kValueDepth>,
           {.grid = grid_x(blocks, "attention_backward: the tiles of queries of all heads",
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
