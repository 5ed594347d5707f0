// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses the output of ptxas with -Xptxas=-v.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kg::resources {

struct PtxasKernel {
  std::string symbol;   // mangled
  int registers = 0;    // per thread
  int stack_bytes = 0;  // local memory per thread: spills, dynamically indexed arrays, calls
  int spill_bytes = 0;  // stored plus loaded, per thread
  int shared_bytes = 0; // static, per block
};

// Kernels in the order of the log. Throws Error with `file` if the log lacks a kernel's registers.
std::vector<PtxasKernel> read_ptxas_log(std::string_view log, const std::string& file);

} // namespace kg::resources
