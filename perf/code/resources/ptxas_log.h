// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What ptxas says of each kernel under -Xptxas=-v.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kg::resources {

struct PtxasKernel {
  std::string symbol;   // mangled
  int registers = 0;    // per thread
  int stack_bytes = 0;  // local memory per thread: spills, arrays with run-time indices, calls
  int spill_bytes = 0;  // stored plus loaded, per thread
  int shared_bytes = 0; // static, per block
};

// In the order of the log. Throws Error naming `file` for a log that says nothing of a kernel's
// registers, and for one with a remark C75xx: wgmma's instructions wait for each other, or
// setmaxnreg is ignored.
std::vector<PtxasKernel> read_ptxas_log(std::string_view log, const std::string& file);

} // namespace kg::resources
