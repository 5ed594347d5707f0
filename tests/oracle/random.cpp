// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/random.h"

#include <charconv>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "runtime/error.h"

namespace kg::test {

std::uint64_t parse_seed(std::string_view text) {
  constexpr std::uint64_t kDefaultSeed = 20260117;
  if (text.empty()) return kDefaultSeed;
  if (text == "random") {
    std::random_device device;
    const std::uint64_t upper = device();
    return upper << 32 | device();
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw Error(fmt::format(
        "KERNELGRADE_SEED is '{}': give a decimal number below 2^64, or 'random'", text));
  return value;
}

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* text = std::getenv("KERNELGRADE_SEED");
    return parse_seed(text == nullptr ? "" : text);
  }();
  return value;
}

} // namespace kg::test
