// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The analysed machine code of an operation's compiled kernels (perf/code/resources).
#pragma once

#include "perf/code/resources/compiled.h"
#include "perf/code/sass/analysis.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kg::sass {

struct Kernel {
  std::string key;  // "softmax.block_in_shared<...>", as in baselines/resources/
  std::string name; // LaunchRecord::kernel_name
  Analysis analysis;
  int registers = 0;    // per thread
  int threads = 0;      // per block
  int shared_bytes = 0; // per block
  int warps = 0;        // resident on a multiprocessor
};

// Kernels sorted by key, with the cycles of a GPU. `launches` as for compiled_resources. Throws
// Error with the file that is missing or broken.
std::vector<Kernel> kernels_in(const std::filesystem::path& folder, std::string_view arch,
                               const std::string& op, const resources::Launches& launches,
                               const std::filesystem::path& nvdisasm, const Rates& rates = {});

} // namespace kg::sass
