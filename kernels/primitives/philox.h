// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11):
// four random words as a function of a counter and a key. Any thread can generate any part of a
// stream, and a backward pass can regenerate what the forward pass drew.
//
// Streams equal cuRAND's: after curand_init(seed, subsequence, offset, &state) of a
// curandStatePhilox4_32_10_t, the i-th call of curand(&state), counted from 0, returns word i.
#pragma once

#include "runtime/device_code.h"

#include <cstdint>

namespace kg {

struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t subsequence = 0;
  std::uint64_t offset = 0; // words skipped
};

inline constexpr int kPhiloxWords = 4; // per block

inline constexpr int kPhiloxRounds = 10;

__host__ __device__ __forceinline__ uint4 philox_round(uint4 counter, uint2 key) {
  const std::uint64_t a = std::uint64_t{0xD2511F53U} * counter.x;
  const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * counter.z;
  return {static_cast<unsigned>(b >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(b),
          static_cast<unsigned>(a >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(a)};
}

__host__ __device__ __forceinline__ uint2 next_philox_key(uint2 key) {
  return {key.x + 0x9E3779B9U,  // 2^32 divided by the golden ratio
          key.y + 0xBB67AE85U}; // 2^32 (sqrt(3) - 1)
}

__host__ __device__ __forceinline__ uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    counter = philox_round(counter, key);
    key = next_philox_key(key);
  }
  return counter;
}

// The precomputed keys of all rounds.
struct PhiloxKeys {
  uint2 of_round[kPhiloxRounds];

  explicit PhiloxKeys(uint2 key) {
    for (uint2& each : of_round) {
      each = key;
      key = next_philox_key(key);
    }
  }
};

__host__ __device__ __forceinline__ uint4 philox(uint4 counter, const PhiloxKeys& keys) {
  KG_UNROLL
  for (int round = 0; round < kPhiloxRounds; ++round)
    counter = philox_round(counter, keys.of_round[round]);
  return counter;
}

__host__ __device__ __forceinline__ uint2 philox_key(const RandomStream& stream) {
  return {static_cast<unsigned>(stream.seed), static_cast<unsigned>(stream.seed >> 32)};
}

// Words 4 block to 4 block + 3, counted from the offset rounded down to a multiple of 4. A
// subsequence has 2^64 blocks, so no offset reaches its end. Key: uint2 or PhiloxKeys.
template <class Key>
__host__ __device__ __forceinline__ uint4 random_block(const RandomStream& stream, const Key& key,
                                                       std::uint64_t block) {
  const std::uint64_t at = stream.offset / kPhiloxWords + block;
  return philox({static_cast<unsigned>(at), static_cast<unsigned>(at >> 32),
                 static_cast<unsigned>(stream.subsequence),
                 static_cast<unsigned>(stream.subsequence >> 32)},
                key);
}
__host__ __device__ __forceinline__ uint4 random_block(const RandomStream& stream,
                                                       std::uint64_t block) {
  return random_block(stream, philox_key(stream), block);
}

// Word `index` of the stream. Computes a whole block for it.
__host__ __device__ __forceinline__ unsigned random_word(const RandomStream& stream,
                                                         std::int64_t index) {
  const std::uint64_t place = stream.offset % kPhiloxWords + static_cast<std::uint64_t>(index);
  const uint4 words = random_block(stream, place / kPhiloxWords);
  switch (place % kPhiloxWords) {
  case 0: return words.x;
  case 1: return words.y;
  case 2: return words.z;
  default: return words.w;
  }
}

} // namespace kg
