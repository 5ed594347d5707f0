// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that comes as PTX: the CUDA source that launches it, which is judged like any other.
#pragma once

#include <filesystem>
#include <string>

namespace kg::candidate {

// How the kernel is launched. What is said of grid, block, shared memory and arguments is C++ in
// the names of the function's parameters, as "(cols + 127) / 128".
struct PtxLaunch {
  std::string function;           // of the operation: "softmax_f32"; empty: the first
  std::string entry;              // the kernel, mangled or its last name; empty: the only one
  std::string grid, block;        // "rows", "32, 4"
  std::string shared_bytes = "0"; // dynamic
  std::string arguments;          // one for each of the kernel's parameters: "x, y, cols"

  bool operator==(const PtxLaunch&) const = default;
};

// `signature` is what the operation prints (`kernelgrade try OP --signature`). Throws Error where
// the launch does not fit the kernel, or the operation has no such function.
std::string source_of(const std::filesystem::path& ptx, const PtxLaunch& launch,
                      const std::string& signature);

} // namespace kg::candidate
