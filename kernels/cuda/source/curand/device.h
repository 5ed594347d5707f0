// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuRAND's device generators XORWOW (Marsaglia, "Xorshift RNGs") and Philox4x32-10 (Salmon et al.,
// "Parallel Random Numbers: As Easy as 1, 2, 3"). Integers equal cuRAND's for the same seed,
// subsequence and offset. Floating-point numbers are derived from them as cuRAND documents, and may
// differ in the last places of logf, sinf and cosf.
#pragma once

#include "runtime/device_code.h"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace kg::foreign {

// XORWOW state: the five words of the xorshift and the Weyl counter.
struct Xorwow {
  unsigned v[5];
  unsigned d;
};
// Subsequences are 2^67 numbers apart (generators.cpp).
Xorwow xorwow(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t offset);
Xorwow xorwow_skipped(Xorwow from, std::uint64_t subsequences, std::uint64_t numbers);

uint4 philox(uint4 counter, uint2 key);

// The second number of a Box-Muller pair is kept for the next call.
struct Waiting {
  float single = 0;
  double twofold = 0;
  bool has_single = false;
  bool has_twofold = false;
};

inline float uniform(unsigned bits) { return static_cast<float>(bits) * 0x1p-32f + 0x1p-33f; }
inline double uniform(unsigned low, unsigned high) {
  const std::uint64_t bits = low ^ (std::uint64_t{high} << 21);
  return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}
inline float2 box_muller(unsigned a, unsigned b) {
  const float length = std::sqrt(-2.0f * std::log(uniform(a)));
  const float angle = uniform(b) * (2 * std::numbers::pi_v<float>);
  return {length * std::sin(angle), length * std::cos(angle)};
}
inline double2 box_muller(unsigned a, unsigned b, unsigned c, unsigned d) {
  const double length = std::sqrt(-2.0 * std::log(uniform(a, b)));
  const double angle = uniform(c, d) * (2 * std::numbers::pi);
  return {length * std::sin(angle), length * std::cos(angle)};
}

} // namespace kg::foreign

struct curandStateXORWOW {
  kg::foreign::Xorwow generator;
  kg::foreign::Waiting waiting;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;

struct curandStatePhilox4_32_10 {
  uint4 counter, output;
  uint2 key;
  unsigned used; // numbers taken from `output`
  kg::foreign::Waiting waiting;
};
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;

inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStateXORWOW* state) {
  *state = {kg::foreign::xorwow(seed, subsequence, offset), {}};
}
inline void skipahead(unsigned long long numbers, curandStateXORWOW* state) {
  state->generator = kg::foreign::xorwow_skipped(state->generator, 0, numbers);
}
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
  state->generator = kg::foreign::xorwow_skipped(state->generator, n, 0);
}
inline unsigned curand(curandStateXORWOW* state) {
  kg::foreign::Xorwow g = state->generator;
  unsigned t = g.v[0] ^ (g.v[0] >> 2);
  for (int i = 0; i < 4; ++i) g.v[i] = g.v[i + 1];
  g.v[4] = (g.v[4] ^ (g.v[4] << 4)) ^ (t ^ (t << 1));
  g.d += 362437;
  state->generator = g;
  return g.v[4] + g.d;
}

inline void skipahead(unsigned long long numbers, curandStatePhilox4_32_10* state) {
  // numbers + used may overflow 64 bits
  const unsigned long long rest = (numbers & 3) + state->used;
  unsigned long long blocks = numbers / 4 + rest / 4;
  state->used = static_cast<unsigned>(rest & 3);
  uint4 c = state->counter;
  const unsigned long long low = (std::uint64_t{c.y} << 32 | c.x) + blocks;
  if (low < blocks && ++c.z == 0) ++c.w;
  c.x = static_cast<unsigned>(low);
  c.y = static_cast<unsigned>(low >> 32);
  state->counter = c;
  state->output = kg::foreign::philox(c, state->key);
}
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
  uint4 c = state->counter;
  const unsigned long long high = (std::uint64_t{c.w} << 32 | c.z) + n;
  c.z = static_cast<unsigned>(high);
  c.w = static_cast<unsigned>(high >> 32);
  state->counter = c;
  state->output = kg::foreign::philox(c, state->key);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStatePhilox4_32_10* state) {
  *state = {};
  state->key = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}
inline unsigned curand(curandStatePhilox4_32_10* state) {
  const uint4 o = state->output;
  const unsigned numbers[4] = {o.x, o.y, o.z, o.w};
  const unsigned number = numbers[state->used & 3];
  skipahead(1, state);
  return number;
}
inline uint4 curand4(curandStatePhilox4_32_10* state) {
  const unsigned a = curand(state), b = curand(state), c = curand(state);
  return {a, b, c, curand(state)};
}

inline float curand_uniform(curandStateXORWOW* state) {
  return kg::foreign::uniform(curand(state));
}
inline float curand_uniform(curandStatePhilox4_32_10* state) {
  return kg::foreign::uniform(curand(state));
}
inline double curand_uniform_double(curandStateXORWOW* state) {
  const unsigned low = curand(state);
  return kg::foreign::uniform(low, curand(state));
}
inline double curand_uniform_double(curandStatePhilox4_32_10* state) {
  return curand(state) * 0x1p-32 + 0x1p-32;
}
inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  const uint4 four = curand4(state);
  return {kg::foreign::uniform(four.x), kg::foreign::uniform(four.y), kg::foreign::uniform(four.z),
          kg::foreign::uniform(four.w)};
}

template <class State>
float2 curand_normal2(State* state) {
  const unsigned a = curand(state);
  return kg::foreign::box_muller(a, curand(state));
}
template <class State>
double2 curand_normal2_double(State* state) {
  const unsigned a = curand(state), b = curand(state), c = curand(state);
  return kg::foreign::box_muller(a, b, c, curand(state));
}
inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
  const float2 first = curand_normal2(state), second = curand_normal2(state);
  return {first.x, first.y, second.x, second.y};
}
template <class State>
float curand_normal(State* state) {
  kg::foreign::Waiting& waiting = state->waiting;
  waiting.has_single = !waiting.has_single;
  if (!waiting.has_single) return waiting.single;
  const float2 pair = curand_normal2(state);
  waiting.single = pair.y;
  return pair.x;
}
template <class State>
double curand_normal_double(State* state) {
  kg::foreign::Waiting& waiting = state->waiting;
  waiting.has_twofold = !waiting.has_twofold;
  if (!waiting.has_twofold) return waiting.twofold;
  const double2 pair = curand_normal2_double(state);
  waiting.twofold = pair.y;
  return pair.x;
}
template <class State>
float curand_log_normal(State* state, float mean, float deviation) {
  return std::exp(mean + deviation * curand_normal(state));
}
template <class State>
double curand_log_normal_double(State* state, double mean, double deviation) {
  return std::exp(mean + deviation * curand_normal_double(state));
}
