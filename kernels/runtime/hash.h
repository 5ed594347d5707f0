// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A 128-bit hash that says whether machine code, a source or a file is the same: FNV-1a, offset
// basis and prime of 128 bits as published by its authors (draft-eastlake-fnv). It guards against
// accidents, at 1 in 10^38 a pair, and not against people who search for collisions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kg {

class Hash {
 public:
  // The bytes as they are: what two strings that are added one after the other sum up to does not
  // depend on where the first ends.
  Hash& bytes(std::string_view bytes);

  // Its length, then its bytes, so that fields cannot run into each other.
  Hash& field(std::string_view field);
  Hash& number(std::uint64_t value);

  std::string hex() const; // 32 digits

 private:
  __extension__ using Word = unsigned __int128;
  Word state_ = (Word{0x6c62272e07bb0142} << 64) | 0x62b821756295c58d;
};

} // namespace kg
