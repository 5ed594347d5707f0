// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/curand/device.h"

#include <array>
#include <bit>
#include <memory>
#include <vector>

namespace kg::foreign {
namespace {

constexpr int kWords = 5, kBits = 32 * kWords;
using Vector = std::array<unsigned, kWords>;
using Matrix = std::array<Vector, kBits>; // column i is the image of bit i

Vector times(const Matrix& matrix, const Vector& vector) {
  Vector product{};
  for (int i = 0; i < kBits; ++i) {
    if ((vector[static_cast<std::size_t>(i / 32)] >> (i % 32) & 1) == 0) continue;
    for (std::size_t word = 0; word < kWords; ++word)
      product[word] ^= matrix[static_cast<std::size_t>(i)][word];
  }
  return product;
}

Vector step(const Vector& v) {
  const unsigned t = v[0] ^ (v[0] >> 2);
  return {v[1], v[2], v[3], v[4], (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1))};
}

// The xorshift is linear over bits: powers()[k] advances it by 2^k steps. There are two 64-bit step
// counts, the second in units of 2^67.
constexpr int kSequence = 67;
const std::vector<Matrix>& powers() {
  static const std::vector<Matrix> all = [] {
    std::vector<Matrix> matrices(kSequence + 64);
    for (int i = 0; i < kBits; ++i) {
      Vector bit{};
      bit[static_cast<std::size_t>(i / 32)] = 1u << (i % 32);
      matrices[0][static_cast<std::size_t>(i)] = step(bit);
    }
    for (std::size_t k = 1; k < matrices.size(); ++k) {
      for (std::size_t i = 0; i < kBits; ++i)
        matrices[k][i] = times(matrices[k - 1], matrices[k - 1][i]);
    }
    return matrices;
  }();
  return all;
}

} // namespace

Xorwow xorwow_skipped(Xorwow from, std::uint64_t subsequences, std::uint64_t numbers) {
  Vector v{};
  for (std::size_t i = 0; i < kWords; ++i) v[i] = from.v[i];
  const auto jump = [&](std::uint64_t steps, int first) {
    for (; steps != 0; steps &= steps - 1)
      v = times(powers()[static_cast<std::size_t>(first + std::countr_zero(steps))], v);
  };
  jump(subsequences, kSequence);
  jump(numbers, 0);
  for (std::size_t i = 0; i < kWords; ++i) from.v[i] = v[i];
  from.d += 362437u * static_cast<unsigned>(numbers); // 2^67 steps change nothing
  return from;
}

// cuRAND's derivation of a state from a seed.
Xorwow xorwow(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t offset) {
  const unsigned a = 1099087573u * (static_cast<unsigned>(seed) ^ 0xaad26b49u);
  const unsigned b = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu);
  const Xorwow start = {
      {123456789u + a, 362436069u ^ a, 521288629u + b, 88675123u ^ b, 5783321u + a},
      6615241u + a + b};
  return xorwow_skipped(start, subsequence, offset);
}

uint4 philox(uint4 counter, uint2 key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter.x;
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter.z;
    counter = {static_cast<unsigned>(b >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(b),
               static_cast<unsigned>(a >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(a)};
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

} // namespace kg::foreign
