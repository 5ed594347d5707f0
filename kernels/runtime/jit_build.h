// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The compiler settings of this build for kernels compiled at run time. A library of its own,
// because it names folders of this machine: the runtime's machine code is part of a measurement's
// identity (perf/code/identity) and must not depend on the project's location.
#pragma once

#include <string>
#include <vector>

namespace kg::jit {

struct Build {
  std::string include;                    // the folder of runtime/device_code.h
  std::vector<std::string> toolkit;       // cuda: the folders of the toolkit's headers
  std::string compiler;                   // host: a C++ compiler,
  std::vector<std::string> flags;         // its flags for all code,
  std::vector<std::string> kernel_flags;  // flags for timed kernels,
  std::vector<std::string> checked_flags; // flags for checked kernels
};

const Build& build_settings();

} // namespace kg::jit
