// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the kernels of a cubin and hashes their machine code. The .nv.info attributes are as nvcc
// 13 writes them; NVIDIA does not document them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kg::identity {

struct CubinKernel {
  std::string symbol;    // mangled
  std::string name;      // as LaunchRecord::kernel_name
  int registers = 0;     // per block, from __launch_bounds__; 0: none
  int max_threads = 0;   // per block, from __launch_bounds__; 0 where there is none
  int static_shared = 0; // bytes per block
  // Hash of instructions, constants, registers and static shared memory.
  std::string hash;
};

// Kernels in the order of the file. Throws Error with `file` and the defect.
std::vector<CubinKernel> read_cubin(std::string_view cubin, const std::string& file);

} // namespace kg::identity
