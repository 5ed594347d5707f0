// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/slice_hint.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runtime/error.h"

namespace kg::test {

namespace {

// An element's missing amount, and its terms' partial sums.
struct Deficit {
  double missing;
  double allowed;
  std::vector<double> prefix;

  double slice(std::size_t begin, std::size_t end) const { return prefix[end] - prefix[begin]; }
};

} // namespace

std::string slice_hint(std::span<const WrongSum> wrong) {
  std::vector<Deficit> deficits;
  for (const WrongSum& sum : wrong) {
    require(sum.terms.size() == wrong.front().terms.size(),
            "slice_hint: the elements have different numbers of terms");
    if (!std::isfinite(sum.actual) || !std::isfinite(sum.expected)) return "";
    Deficit& deficit = deficits.emplace_back();
    deficit.missing = sum.expected - sum.actual;
    double magnitude = 0;
    deficit.prefix.push_back(0);
    for (const double term : sum.terms) {
      deficit.prefix.push_back(deficit.prefix.back() + term);
      magnitude += std::fabs(term);
    }
    constexpr double kRounding = 0x1p-50; // of the prefixes, in units of sum |terms|
    deficit.allowed = sum.tolerance + kRounding * magnitude;
  }
  if (deficits.empty()) return "";

  const std::size_t length = deficits.front().prefix.size() - 1;
  const auto explains = [&](std::size_t begin, std::size_t end, double sign) {
    return std::all_of(deficits.begin(), deficits.end(), [&](const Deficit& d) {
      return std::fabs(d.missing - sign * d.slice(begin, end)) <= d.allowed;
    });
  };
  const auto words = [&](std::size_t begin, std::size_t end) -> std::string {
    if (explains(begin, end, 1)) return fmt::format("the terms [{}, {}) are missing", begin, end);
    if (explains(begin, end, -1))
      return fmt::format("the terms [{}, {}) are counted twice", begin, end);
    return "";
  };
  constexpr std::size_t kLongest = 1024;
  std::size_t tail = length; // tails from `tail` on have been tried
  for (std::size_t width = 1; width <= kLongest && width <= length; width *= 2) {
    for (std::size_t begin = 0; begin + width <= length; begin += width)
      if (const std::string hint = words(begin, begin + width); !hint.empty()) return hint;
    for (; tail > 0 && length - tail < 2 * width; --tail)
      if (const std::string hint = words(tail - 1, length); !hint.empty()) return hint;
  }
  for (; tail > 0; --tail)
    if (const std::string hint = words(tail - 1, length); !hint.empty()) return hint;
  return "";
}

} // namespace kg::test
