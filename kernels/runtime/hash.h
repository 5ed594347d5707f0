// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A 128-bit hash to tell whether machine code, a source or a file is unchanged: FNV-1a with the
// 128-bit offset basis and prime of its authors (draft-eastlake-fnv). Guards against accidental
// collisions (1 in 10^38 per pair), not against deliberate ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kg {

class Hash {
 public:
  // Hashes the bytes without their length: the hash depends only on the concatenation of all the
  // strings added.
  Hash& bytes(std::string_view bytes);

  // Hashes the length, then the bytes, so that adjacent fields cannot be confused.
  Hash& field(std::string_view field);
  Hash& number(std::uint64_t value);

  std::string hex() const; // 32 digits

 private:
  __extension__ using Word = unsigned __int128;
  Word state_ = (Word{0x6c62272e07bb0142} << 64) | 0x62b821756295c58d;
};

} // namespace kg
