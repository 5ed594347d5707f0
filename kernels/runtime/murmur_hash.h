// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A hash that guards against the same accidents as Hash (hash.h), of what is long and hashed anew
// by each process: it takes 16 bytes at a time. MurmurHash3 for x64, 128 bits, by Austin Appleby,
// who put it in the public domain; of several fields each is the next one's seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kg {

class MurmurHash {
 public:
  explicit MurmurHash(std::uint32_t seed = 0) : low_(seed), high_(seed) {}

  // Its bytes and its length, so that fields cannot run into each other.
  MurmurHash& field(std::string_view field);
  MurmurHash& number(std::uint64_t value);

  std::string hex() const; // 32 digits

 private:
  std::uint64_t low_, high_;
};

} // namespace kg
