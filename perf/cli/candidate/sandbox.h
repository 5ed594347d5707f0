// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether an external program is confined (confine.h) while it is compiled or judged.
#pragma once

#include <string>

namespace kg::candidate {

struct Sandbox {
  bool on = false;
  std::string words; // a line for the user: whether it is on, and if not, why
};

// From KERNELGRADE_SANDBOX (1 or 0); if unset, on if CI is set as build services set it. Throws
// Error if 1 is requested but the Linux kernel cannot confine processes.
Sandbox sandbox();

} // namespace kg::candidate
