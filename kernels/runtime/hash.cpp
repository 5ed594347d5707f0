// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/hash.h"

#include <fmt/format.h>

namespace kg {

Hash& Hash::bytes(std::string_view bytes) {
  constexpr Word kPrime = (Word{1} << 88) + 0x13b;
  for (const char byte : bytes) {
    state_ ^= static_cast<unsigned char>(byte);
    state_ *= kPrime;
  }
  return *this;
}

Hash& Hash::field(std::string_view field) { return number(field.size()).bytes(field); }

Hash& Hash::number(std::uint64_t value) {
  char little_endian[sizeof value];
  for (char& byte : little_endian) {
    byte = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  return bytes({little_endian, sizeof little_endian});
}

std::string Hash::hex() const {
  return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(state_ >> 64),
                     static_cast<std::uint64_t>(state_));
}

} // namespace kg
