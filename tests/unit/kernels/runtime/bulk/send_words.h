// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a cluster that send words to each other by bulk copies and bulk reductions, and what
// can be wrong with them.
#pragma once

#include "runtime/device_code.h"
#include "runtime/reduce_op.h"

namespace kg::bulk {

inline constexpr unsigned kSent = 32; // words of a block, and its threads
inline constexpr unsigned kSenders = 2;
inline constexpr unsigned kSendBytes = 16 + (1 + kSenders) * kSent * sizeof(std::uint64_t);

enum class SendMutant : int {
  none,
  no_fence,           // the words were stored without a proxy fence
  phase_not_awaited,  // the received words are read at once
  source_overwritten, // while they are being sent
  bytes_too_many,     // are expected
  block_ends          // block 0 ends behind its sends
};

// By a cluster of kSenders blocks with kSendBytes of shared memory. Block b holds the kSent words
// from[kSent b + i], and sends them to every block. out: for each block, kSenders kSent words.
// T: u32, s32, u64.
// reduces: the first kSent are those that each block has combined with `initial`, the others are
// `initial`; nothing if there is no such reduction. Otherwise: the words of all blocks in turn.
template <class T>
__global__ void send_words(bool reduces, ReduceOp op, T initial, const T* from, T* out,
                           SendMutant mutant);

} // namespace kg::bulk
