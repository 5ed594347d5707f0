// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for cuBLASLt and what a product needs of cuBLAS, beside the one for the CUDA runtime
// (recording_cudart.h): counts calls, and its algorithms take the time that they are told to.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kg::recording {

struct Cublaslt {
  std::map<std::string, int> calls; // by function
  // How long the algorithms take, in the order of the heuristic; 0: the library refuses it.
  std::vector<double> algorithm_ns = {1000};
  std::vector<int> executed;  // the algorithms of the products, in order
  std::vector<int> epilogues; // of the operations, in order
  int alive = 0;              // descriptors, layouts and preferences
};
Cublaslt& cublaslt();

} // namespace kg::recording
