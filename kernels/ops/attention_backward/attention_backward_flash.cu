// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_backward, variant flash (Dao, "FlashAttention-2", arXiv 2307.08691): three kernels.
// row_sums makes delta. In flash_keys a block has 64 keys of one head of K and V and walks through
// the queries that see any of them, head by head of the group, with dK and dV in registers; in
// flash_queries it has 128 or 64 queries and walks through the keys that they see, with dQ in
// registers. Both do the same with their own tokens and those that they meet, 64 or 32 at a time: a
// warp has 16 of its own, or 32 queries of depths up to 128, and computes their scores and the
// gradients by their weights, by keys or by queries, so that P and dS, packed in pairs, are the
// operands of the products behind. The next tokens are under way meanwhile; one barrier for each
// step. Weights below 2^-126 are 0.
//
// Why not one kernel, which would compute scores once instead of twice: dQ or dK would be the sum
// of what many blocks have, by atomics in no fixed order, or through memory as large as a tile for
// each pair of tiles. Two products of seven are the price of the same bits every time. Why not
// warps that share rows of P in shared memory, each with some columns of dK: less would be read
// there, but P and dS would pass through it with a barrier more.
//
// Beyond a depth of 128 dK and dV of 16 keys are more than a thread's registers: two warps have
// half of the columns each, and both compute the scores.
//
// Bytes: every tensor once from memory; Q and dout once more from L2 for each other tile of 64
// keys, K and V for each other tile of queries. Flops: 2 (4 depth + 3 value_depth) per visible
// pair, rounded up to tiles. What keeps it from mma.sync's peak is what warps read from shared
// memory: with 16 rows, by machine code 52 to 58 % of the peak are left on a Hopper, with 32 some
// 85 %.
//
// Tiles of queries are handed out from the last to the first, tiles of keys from the first to the
// last: with a causal mask those have most to do.
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
