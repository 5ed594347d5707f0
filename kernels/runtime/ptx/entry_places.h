// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the kernels of a module stand in the source, without reading their bodies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kg::ptx_run {

struct EntryPlace {
  std::string name;        // mangled
  std::string file;        // "" where the module was compiled without -lineinfo
  int line = 0;            // of the first instruction
  bool of_toolkit = false; // CUB's, Thrust's: a header of the CUDA toolkit holds it
};

std::vector<EntryPlace> entry_places(std::string_view ptx);

// A file below the CUDA toolkit's include folder.
bool is_of_toolkit(std::string_view path);

} // namespace kg::ptx_run
