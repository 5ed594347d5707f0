// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats times for people.
#pragma once

#include <fmt/format.h>
#include <string>

namespace kg::judge {

// Four significant digits with a suitable unit: "1.234 ms".
inline std::string time_text(double ns) {
  if (ns >= 1e9) return fmt::format("{:.4g} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.4g} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.4g} us", ns / 1e3);
  return fmt::format("{:.4g} ns", ns);
}

} // namespace kg::judge
