// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Addresses of variables without an allocation: __shared__ variables, which the host keeps in
// thread-local storage, and __device__ and __constant__ variables.
#pragma once

#include "runtime/host/block.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kg::check {

// threadIdx and similar variables, which every kernel reads frequently.
inline bool is_built_in(std::uintptr_t address) {
  const auto within = [address](const auto& variable) {
    return address - reinterpret_cast<std::uintptr_t>(&variable) < sizeof(variable);
  };
  return within(threadIdx) || within(blockIdx) || within(blockDim) || within(gridDim);
}

struct SharedVariable {
  std::uintptr_t offset; // from the start of its module's TLS block
  std::size_t bytes;
  std::string name; // demangled: "reduce<float>(float*)::partial"
  bool guard;       // a guard in front of a variable (keywords.h)
};

// A module's thread-local block in the calling OS thread, with its __shared__ variables in address
// order.
struct SharedModule {
  std::uintptr_t begin;
  std::size_t bytes;
  std::vector<SharedVariable> variables;
};

// For every loaded module that has such a block. Names need the symbol table: a stripped program
// appears to have no variables.
std::vector<SharedModule> shared_modules();

// Writable data segments of the loaded modules, which contain the __device__ and __constant__
// variables on the host.
struct DataSegment {
  std::uintptr_t begin;
  std::size_t bytes;
  bool writable;
};
std::vector<DataSegment> data_segments();

} // namespace kg::check
