// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// For a kernel given as PTX: generates CUDA source that launches it, judged like any other.
#pragma once

#include <filesystem>
#include <string>

namespace kg::candidate {

// How to launch the kernel. Grid, block, shared memory and arguments are C++ expressions in the
// names of the function's parameters, such as "(cols + 127) / 128".
struct PtxLaunch {
  std::string function;           // the operation's function: "softmax_f32"; empty: the first
  std::string entry;              // the kernel, mangled or unqualified; empty: the only one
  std::string grid, block;        // "rows", "32, 4"
  std::string shared_bytes = "0"; // dynamic
  std::string arguments;          // one per parameter of the kernel: "x, y, cols"

  bool operator==(const PtxLaunch&) const = default;
};

// `signature` is the operation's output for `kernelgrade try OP --signature`. Throws Error if the
// launch does not fit the kernel, or the operation has no such function.
std::string source_of(const std::filesystem::path& ptx, const PtxLaunch& launch,
                      const std::string& signature);

} // namespace kg::candidate
