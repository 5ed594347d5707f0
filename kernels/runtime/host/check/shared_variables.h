// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where variables lie that no allocation made: __shared__ ones, which the host keeps in
// thread-local storage, and __device__ and __constant__ ones.
#pragma once

#include "runtime/host/block.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kg::check {

// threadIdx and its like, which every kernel reads all the time.
inline bool is_built_in(std::uintptr_t address) {
  const auto within = [address](const auto& variable) {
    return address - reinterpret_cast<std::uintptr_t>(&variable) < sizeof(variable);
  };
  return within(threadIdx) || within(blockIdx) || within(blockDim) || within(gridDim);
}

struct SharedVariable {
  std::uintptr_t offset; // from the beginning of its module's block
  std::size_t bytes;
  std::string name; // demangled: "reduce<float>(float*)::partial"
  bool guard;       // not a variable but the space in front of one (keywords.h)
};

// A module's thread-local block in the calling OS thread, with its __shared__ variables in order of
// address.
struct SharedModule {
  std::uintptr_t begin;
  std::size_t bytes;
  std::vector<SharedVariable> variables;
};

// Of every loaded module that has one. Names need the symbol table: of a stripped program there are
// no variables.
std::vector<SharedModule> shared_modules();

// Writable data of the loaded modules: where __device__ and __constant__ variables live on the
// host.
struct DataSegment {
  std::uintptr_t begin;
  std::size_t bytes;
  bool writable;
};
std::vector<DataSegment> data_segments();

} // namespace kg::check
