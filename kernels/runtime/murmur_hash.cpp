// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/murmur_hash.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace kg {
namespace {

constexpr std::uint64_t kFirst = 0x87c37b91114253d5, kSecond = 0x4cf5ad432745937f;
constexpr std::size_t kBlock = 16;

std::uint64_t scramble_low(std::uint64_t word) { return std::rotl(word * kFirst, 31) * kSecond; }
std::uint64_t scramble_high(std::uint64_t word) { return std::rotl(word * kSecond, 33) * kFirst; }

std::uint64_t avalanche(std::uint64_t word) {
  word = (word ^ word >> 33) * 0xff51afd7ed558ccd;
  word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53;
  return word ^ word >> 33;
}

} // namespace

MurmurHash& MurmurHash::field(std::string_view field) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t words[2];
  std::size_t at = 0;
  for (; at + kBlock <= field.size(); at += kBlock) {
    std::memcpy(words, field.data() + at, kBlock);
    low_ = (std::rotl(low_ ^ scramble_low(words[0]), 27) + high_) * 5 + 0x52dce729;
    high_ = (std::rotl(high_ ^ scramble_high(words[1]), 31) + low_) * 5 + 0x38495ab5;
  }
  words[0] = words[1] = 0;
  if (at < field.size()) std::memcpy(words, field.data() + at, field.size() - at);
  low_ ^= scramble_low(words[0]) ^ field.size();
  high_ ^= scramble_high(words[1]) ^ field.size();
  low_ += high_;
  high_ += low_;
  low_ = avalanche(low_);
  high_ = avalanche(high_);
  low_ += high_;
  high_ += low_;
  return *this;
}

MurmurHash& MurmurHash::number(std::uint64_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  return field({bytes, sizeof bytes});
}

std::string MurmurHash::hex() const { return fmt::format("{:016x}{:016x}", low_, high_); }

} // namespace kg
