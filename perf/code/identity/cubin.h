// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of a cubin, and what tells one's machine code from another's. Attributes of .nv.info
// as nvcc 13 writes them; NVIDIA does not document them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kg::identity {

struct CubinKernel {
  std::string symbol;    // mangled
  std::string name;      // as LaunchRecord::kernel_name has it
  int registers = 0;     // per thread
  int max_threads = 0;   // per block, from __launch_bounds__; 0 where there is none
  int static_shared = 0; // bytes per block
  // Of the instructions, the constants, the registers and the static shared memory.
  std::string hash;
};

// In the order of the file. Throws Error naming `file` and what is broken.
std::vector<CubinKernel> read_cubin(std::string_view cubin, const std::string& file);

} // namespace kg::identity
