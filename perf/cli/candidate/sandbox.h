// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a program of somebody else is confined (confine.h) while it is compiled or judged.
#pragma once

#include <string>

namespace kg::candidate {

struct Sandbox {
  bool on = false;
  std::string words; // whether it is on, and why not where it is off: a line for the reader
};

// By KERNELGRADE_SANDBOX (1 or 0); without it, on where CI is set as build services set it. Throws
// Error where 1 is demanded of a kernel that cannot.
Sandbox sandbox();

} // namespace kg::candidate
