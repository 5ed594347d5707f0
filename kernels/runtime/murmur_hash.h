// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A hash with the same purpose as Hash (hash.h), for long data that each process hashes again: it
// consumes 16 bytes at a time. MurmurHash3 for x64, 128 bits, by Austin Appleby, who placed it in
// the public domain. With several fields, each field's hash is the seed of the next.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kg {

class MurmurHash {
 public:
  explicit MurmurHash(std::uint32_t seed = 0) : low_(seed), high_(seed) {}

  // Hashes the bytes and their length, so that adjacent fields cannot be confused.
  MurmurHash& field(std::string_view field);
  MurmurHash& number(std::uint64_t value);

  std::string hex() const; // 32 digits

 private:
  std::uint64_t low_, high_;
};

} // namespace kg
