// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/candidate/sandbox.h"

#include "perf/cli/candidate/confine.h"
#include "runtime/environment.h"
#include "runtime/error.h"

#include <cstdlib>
#include <string_view>

namespace kg::candidate {
namespace {

bool in_ci() {
  const char* const value = std::getenv("CI");
  if (value == nullptr) return false;
  const std::string_view text = value;
  return !text.empty() && text != "0" && text != "false";
}

} // namespace

Sandbox sandbox() {
  constexpr const char* kVariable = "KERNELGRADE_SANDBOX";
  const bool demanded = std::getenv(kVariable) != nullptr;
  if (!is_set(kVariable, in_ci()))
    return {false, demanded ? "sandbox: off (KERNELGRADE_SANDBOX=0)"
                            : "sandbox: off (on where CI is set; KERNELGRADE_SANDBOX=1)"};
  if (can_confine()) return {true, "sandbox: on (no network; writes to its own folder)"};
  require(!demanded, "KERNELGRADE_SANDBOX=1: this kernel has no Landlock (Linux 5.13 and later); "
                     "unset the variable to run without a sandbox");
  return {false, "sandbox: off (this kernel has no Landlock)"};
}

} // namespace kg::candidate
