// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The interface between layouts.cpp, which includes CUDA's headers, and code that includes those
// for user sources: both define the same type names. Codes are cudaError_t values.
#pragma once

#include <cstddef>
#include <string>

namespace kg::foreign {
bool use_per_thread_default_stream(); // cuda/source/api.h
}

namespace kg::emulate {

struct Device {
  std::string name;
  std::size_t global_bytes = 0;
};
int device_of(int device, Device& to);
int attribute_of(int attribute, int device); // 0 if unknown

struct Function {
  std::size_t static_shared_bytes = 0;
  int max_threads = 0;
  // 80 for compute_80: what the kernel's PTX was compiled for, and what a driver would compile it
  // to
  int ptx_version = 0, binary_version = 0;
  int max_dynamic_shared_bytes = 0;
};
int function_of(const void* kernel, Function& to);

struct Pointer {
  int type = 0; // cudaMemoryType
  int device = 0;
  void* device_pointer = nullptr;
  void* host_pointer = nullptr;
};
int pointer_of(const void* pointer, Pointer& to);

struct Launch {
  unsigned grid[3];
  unsigned block[3];
  std::size_t shared_bytes;
  void* stream;
  bool cooperative = false;
  unsigned cluster[3] = {1, 1, 1};
};
int run(const Launch& launch, const void* kernel, void** arguments);
int clusters_of(const Launch& launch, const void* kernel, int* clusters);

} // namespace kg::emulate
