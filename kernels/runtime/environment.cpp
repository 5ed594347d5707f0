// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/environment.h"

#include "runtime/error.h"

#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

namespace kg {

bool is_set(const char* variable, bool otherwise) {
  const char* const value = std::getenv(variable);
  const std::string_view text = value ? value : "";
  if (text.empty()) return otherwise;
  if (text == "0") return false;
  if (text == "1") return true;
  throw Error(fmt::format("{} is \"{}\"; set it to 1 or 0, or not at all", variable, text));
}

void require_switches() {
  for (const char* const variable :
       {"KERNELGRADE_BRIEF", "KERNELGRADE_EMULATED", "KERNELGRADE_GRID_WINDOW", "KERNELGRADE_HUGE",
        "KERNELGRADE_LINES", "KERNELGRADE_PTX_FUSE", "KERNELGRADE_REQUIRE_GPU",
        "KERNELGRADE_SANDBOX", "KERNELGRADE_STRICT", "KERNELGRADE_UNGUARDED",
        "KERNELGRADE_UNINITIALISED_LOADS"})
    is_set(variable);
}

} // namespace kg
