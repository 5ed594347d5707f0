// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/isa_latitude.h"

#include "runtime/environment.h"
#include "runtime/error.h"
#include "runtime/ptx/prelude.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <string_view>

namespace kg::ptx_run {
namespace {

std::optional<std::uint32_t> seed() {
  const char* const given = std::getenv("KERNELGRADE_PTX_APPROX");
  if (given == nullptr || *given == '\0') return std::nullopt;
  const std::string_view text(given);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(error == std::errc() && end == text.data() + text.size(),
          fmt::format("KERNELGRADE_PTX_APPROX is \"{}\"; give a seed from 0 to 4294967295", text));
  return number;
}

// Uniform from -1 to 1. The mixing function is splitmix64's (Steele, Lea and Flood, "Fast
// splittable pseudorandom number generators", 2014).
double deviation(std::uint32_t seed, f32 value) {
  std::uint64_t x = (std::uint64_t{seed} << 32 | bits_of(value)) + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1;
}

IsaLatitude& taken() {
  static IsaLatitude only{seed(), is_set("KERNELGRADE_PTX_FUSE")};
  return only;
}

} // namespace

const IsaLatitude& isa_latitude() { return taken(); }
void set_isa_latitude(const IsaLatitude& latitude) { taken() = latitude; }

f32 off_by(f32 value, double relative, double absolute) {
  if (value == 0 || !std::isfinite(value)) return value; // exact according to the ISA's tables
  const double bound = std::max(std::fabs(static_cast<double>(value)) * relative, absolute);
  const double off = value + bound * deviation(isa_latitude().approximate.value_or(0), value);
  const auto rounded = static_cast<f32>(off);
  // Rounding must not exceed the bound.
  return std::fabs(rounded - static_cast<double>(value)) <= bound ? rounded : value;
}

f32 off_by_ulps(f32 value, int ulps) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double chosen = deviation(isa_latitude().approximate.value_or(0), value) * (ulps + 0.5);
  const f32 to =
      chosen > 0 ? std::numeric_limits<f32>::infinity() : -std::numeric_limits<f32>::infinity();
  f32 moved = value;
  for (int i = 0; i < static_cast<int>(std::lround(std::fabs(chosen))); ++i) {
    const f32 next = std::nextafter(moved, to);
    if (std::isinf(next)) break;
    moved = next;
  }
  return moved;
}

} // namespace kg::ptx_run
