// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/murmur_hash.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace kg {
namespace {

// The bytes in the order in which the reference implementation stores the two words.
std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t word = 0; word < 2; ++word)
    for (std::size_t byte = 8; byte-- > 0;)
      bytes += static_cast<char>(std::stoul(hex.substr(16 * word + 2 * byte, 2), nullptr, 16));
  return bytes;
}

// SMHasher's check of an implementation: the keys 0; 0, 1; ... to 255 bytes, each with a seed of
// its own, and the hash of all the hashes.
TEST(MurmurHash, IsThatOfItsAuthor) {
  std::string key, hashes;
  for (int i = 0; i < 256; ++i) {
    hashes += bytes_of(MurmurHash(static_cast<std::uint32_t>(256 - i)).field(key).hex());
    key += static_cast<char>(i);
  }
  const std::string all = bytes_of(MurmurHash().field(hashes).hex());
  std::uint32_t verification = 0;
  for (std::size_t byte = 4; byte-- > 0;)
    verification = verification << 8 | static_cast<unsigned char>(all[byte]);
  EXPECT_EQ(verification, 0x6384ba69u);
}

TEST(MurmurHash, FieldsDoNotRunIntoEachOther) {
  EXPECT_NE(MurmurHash().field("ab").field("c").hex(), MurmurHash().field("a").field("bc").hex());
  EXPECT_NE(MurmurHash().field("ab").field("").hex(), MurmurHash().field("ab").hex());
  EXPECT_NE(MurmurHash().number(1).number(2).hex(), MurmurHash().number(2).number(1).hex());
}

} // namespace
} // namespace kg
