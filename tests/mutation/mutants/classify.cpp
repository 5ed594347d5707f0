// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/mutation/mutants/classify.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kg::mutants {

namespace {

struct Sign {
  std::string_view text;
  std::string_view check;
};

// The beginnings of the checkers' findings. A message may contain several: the first one counts.
constexpr std::array kFindings = {
    Sign{"[out-of-bounds]", "bounds"},
    Sign{"[misaligned]", "bounds"},
    Sign{"[freed]", "bounds"},
    Sign{"[race]", "race"},
    Sign{"[uninitialised]", "uninitialised"},
    Sign{"[arithmetic]", "arithmetic"},
    Sign{"[leak]", "leak"},
};

// Signs in other messages, most specific first.
constexpr std::array kSigns = {
    Sign{"shared memory overrun", "bounds"},
    Sign{"divergent barrier", "barrier"},
    Sign{"deadlock in", "deadlock"},
    Sign{" mask ", "mask"},
    Sign{"outside the view were written", "hygiene"},
    Sign{"elements outside of", "hygiene"},
    Sign{"changed its input", "hygiene"},
    Sign{"check_guards", "hygiene"},
    Sign{"of them never written", "poison"},
    Sign{"must be exact", "exact"},
    Sign{"actual 0x", "exact"},
    Sign{"x tolerance", "oracle"},
    Sign{"sums to 1 +", "oracle"},
    Sign{"than the vendor", "vendor"},
    Sign{"elements are wrong", "special"},
    Sign{"throws an exception of type", "refusal"},
    Sign{"fnv1a64", "order"},
    Sign{"schedule", "order"},
    Sign{"launches()", "launch"},
    Sign{"kernel_name", "launch"},
    Sign{"C++ exception", "error"},
};
constexpr std::string_view kOther = "value";

template <std::size_t kCount>
void add_names(const std::array<Sign, kCount>& signs, std::vector<std::string_view>& names) {
  for (const Sign& sign : signs)
    if (std::find(names.begin(), names.end(), sign.check) == names.end())
      names.push_back(sign.check);
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  add_names(kFindings, names);
  add_names(kSigns, names);
  names.push_back(kOther);
  return names;
}

} // namespace

std::string_view check_of(std::string_view message) {
  std::size_t first = std::string_view::npos;
  std::string_view check = kOther;
  for (const Sign& finding : kFindings) {
    const std::size_t at = message.find(finding.text);
    if (at >= first) continue;
    first = at;
    check = finding.check;
  }
  if (first != std::string_view::npos) return check;
  for (const Sign& sign : kSigns)
    if (message.find(sign.text) != std::string_view::npos) return sign.check;
  return kOther;
}

bool is_check(std::string_view name) {
  const std::vector<std::string_view> names = all_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string check_names() { return fmt::format("{}", fmt::join(all_names(), ", ")); }

} // namespace kg::mutants
