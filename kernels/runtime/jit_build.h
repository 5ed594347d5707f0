// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What this build compiles kernels with at run time. It names folders of this machine, so it is a
// library of its own: the machine code of the runtime is part of what rows are known by
// (perf/code/identity), and must be the same wherever the project lies.
#pragma once

#include <string>
#include <vector>

namespace kg::jit {

struct Build {
  std::string include;                    // the folder of runtime/device_code.h
  std::vector<std::string> toolkit;       // cuda: the folders of the toolkit's headers
  std::string compiler;                   // host: a C++ compiler,
  std::vector<std::string> flags;         // its flags for all code,
  std::vector<std::string> kernel_flags;  // those of kernels to be timed,
  std::vector<std::string> checked_flags; // and those of kernels to be watched
};

const Build& build_settings();

} // namespace kg::jit
