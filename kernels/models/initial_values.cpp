// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/initial_values.h"

#include "models/parts.h"

namespace kg::models {
namespace {

// The finaliser of SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// FNV-1a (Fowler, Noll, Vo).
std::uint64_t hash(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

} // namespace

std::vector<float> uniform(std::uint64_t seed, std::string_view name, std::int64_t count,
                           double centre, double spread) {
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15; // the golden ratio in 64 bits
  const std::uint64_t stream = mixed(mixed(seed + kStep) ^ hash(name));
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t word = mixed(stream + (i + 1) * kStep);
    const double unit = static_cast<double>(word >> 11) * 0x1p-53; // [0, 1)
    values[i] = static_cast<float>(centre + spread * (2 * unit - 1));
  }
  return values;
}

void initialise(Execution& execution, std::uint64_t seed) {
  each_part(execution.tape(), [&](const Parameter& parameter, const Part& part, std::int64_t row) {
    const std::int64_t count = part.rows * parameter.value.cols;
    write_part(execution, parameter, row,
               uniform(seed, part.name, count, parameter.centre, parameter.spread));
  });
}

} // namespace kg::models
