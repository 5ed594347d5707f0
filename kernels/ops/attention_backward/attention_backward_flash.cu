// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_backward, variant flash (Dao, "FlashAttention-2", arXiv 2307.08691): three kernels.
// row_sums computes delta. A block of flash_keys has 64 keys of one head of K and V. It iterates
// over the queries that see any of them, one head of the group after another, and accumulates dK
// and dV in registers. A block of flash_queries has 128 or 64 queries, iterates over the keys they
// see, and accumulates dQ in registers. Each step adds 64 or 32 tokens of the other side. A warp
// has 16 of the block's tokens, or 32 queries for depths up to 128. It computes scores and the
// gradients of weights, by keys or by queries. P and dS, packed in pairs, are operands of the next
// MMAs. The next tokens are in flight meanwhile, with one barrier per step. Weights below 2^-126
// are flushed to 0.
//
// Why not one kernel, which would compute scores once instead of twice: dQ or dK would be a sum
// over many blocks, by atomics in no fixed order or through memory for a tile per pair of tiles.
// Two of seven products are the price of bit-identical results. Why not warps that share
// rows of P in shared memory, each with some columns of dK: they would read less shared memory, but
// P and dS would pass through it, with one more barrier.
//
// Beyond a depth of 128, dK and dV of 16 keys exceed a thread's registers: two warps take half of
// the columns each, and both compute the scores.
//
// Bytes: every tensor once from memory; Q and dout once more from L2 for each other tile of 64
// keys, K and V for each other tile of queries. Flops: 2 (4 depth + 3 value_depth) per visible
// pair, rounded up to tiles. Shared loads limit the kernels below mma.sync's peak: by machine code,
// to 52 to 58 % of the peak on Hopper with 16 rows per warp, and some 85 % with 32.
//
// Blocks take tiles of queries from last to first and tiles of keys from first to last: with a
// causal mask, these have the most work.
#include "ops/attention_backward/flash_form.h"
#include "ops/attention_backward/row_sums.h"
#include "ops/attention_backward/variants.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>

namespace kg::attention_backward {

std::size_t flash_shared_bytes(std::int64_t depth, std::int64_t value_depth) {
  return attention::with_flash_depths(depth, value_depth, [&]<int kDepth, int kValueDepth>() {
    return std::max(KeyForm<f16, kDepth, kValueDepth>::kSharedBytes,
                    QueryForm<f16, kDepth, kValueDepth>::kSharedBytes);
  });
}

template <class T>
void run_flash(const Arguments<T>& a, Stream& stream) {
  const attention::Problem<T>& f = a.problem.forward;
  const std::int64_t rows = f.batch * f.heads * f.queries;
  if (rows > 0)
    launch(a.vector ? row_sums<T, true> : row_sums<T, false>,
           {.grid = grid_x(div_up(rows, kRowsPerBlock), "attention_backward: the queries",
                           "split the batch"),
            .block = kRowLanes * kRowsPerBlock,
            .stream = &stream},
           a);
  run_flash_keys(a, stream);
  run_flash_queries(a, stream);
}

template void run_flash(const Arguments<f16>&, Stream&);
template void run_flash(const Arguments<bf16>&, Stream&);

} // namespace kg::attention_backward
