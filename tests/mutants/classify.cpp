// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/mutants/classify.h"

#include <algorithm>
#include <array>
#include <string>

namespace kg::mutants {

namespace {

struct Sign {
  std::string_view text;
  std::string_view check;
};

// What the messages say, the most telling first: a message holds the words of several.
constexpr std::array kSigns = {
    Sign{"[out-of-bounds]", "bounds"},
    Sign{"[misaligned]", "bounds"},
    Sign{"[freed]", "bounds"},
    Sign{"dynamic shared memory overrun", "bounds"},
    Sign{"[race]", "race"},
    Sign{"[uninitialised]", "uninitialised"},
    Sign{"[arithmetic]", "arithmetic"},
    Sign{"[leak]", "leak"},
    Sign{"divergent barrier", "barrier"},
    Sign{"deadlock in", "deadlock"},
    Sign{" mask ", "mask"},
    Sign{"outside the view were written", "hygiene"},
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

} // namespace

std::string_view check_of(std::string_view message) {
  for (const Sign& sign : kSigns)
    if (message.find(sign.text) != std::string_view::npos) return sign.check;
  return kOther;
}

bool is_check(std::string_view name) {
  const auto names_it = [name](const Sign& sign) { return sign.check == name; };
  return name == kOther || std::any_of(kSigns.begin(), kSigns.end(), names_it);
}

std::string check_names() {
  std::string names;
  std::string_view last;
  for (const Sign& sign : kSigns) {
    if (sign.check == last) continue; // the signs of a check stand together
    last = sign.check;
    names += std::string(last) + ", ";
  }
  return names + std::string(kOther);
}

} // namespace kg::mutants
