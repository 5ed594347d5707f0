// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The source locations of a module's kernels, found without parsing the kernels' bodies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kg::ptx_run {

struct EntryPlace {
  std::string name;        // mangled
  std::string file;        // empty if compiled without -lineinfo
  int line = 0;            // of the first instruction
  bool of_toolkit = false; // defined in a header of the CUDA toolkit: CUB, Thrust
};

std::vector<EntryPlace> entry_places(std::string_view ptx);

// Whether the file is below the CUDA toolkit's include folder.
bool is_of_toolkit(std::string_view path);

} // namespace kg::ptx_run
