// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two blocks that reduce words into each other's shared memory, and what can be wrong with them.
#pragma once

#include "runtime/device_code.h"
#include "runtime/reduce_op.h"

namespace kg::bulk {

inline constexpr unsigned kWords = 32; // and threads of a block
inline constexpr unsigned kWordBlocks = 2;
inline constexpr unsigned kWordsBytes = 16 + kWords * sizeof(std::uint64_t);

enum class WordMutant : int { none, phase_not_awaited, bytes_too_many };

// By a cluster of kWordBlocks blocks with kWordsBytes of shared memory: each word of each block
// begins as `initial`, and each block b combines word i of both with from[kWords b + i]. out: the
// words of all blocks. Nothing if there is no such reduction. T: u32, s32, u64.
template <class T>
__global__ void reduce_words(ReduceOp op, T initial, const T* from, T* out, WordMutant mutant);

} // namespace kg::bulk
