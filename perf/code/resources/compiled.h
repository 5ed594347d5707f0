// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The resources of an op's kernels as the build compiled them: folders <arch>-cuda<major.minor>/
// <op>/, one fatbin and one log of ptxas per source file (cmake/Resources.cmake).
#pragma once

#include "perf/judge/exact_gate.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kg::resources {

// One architecture with one toolkit.
struct Compiled {
  std::filesystem::path folder;
  std::string name; // the folder's, and its baseline file's: "sm_90a-cuda13.0"
  std::string arch() const { return name.substr(0, name.find('-')); }
  std::filesystem::path build() const { return folder.parent_path().parent_path(); }
};

// Those in a build's folder of compiled kernels, by name; none where there is no such folder.
std::vector<Compiled> compiled_in(const std::filesystem::path& folder);

// Whether something was compiled into an op's folder.
bool is_compiled(const std::filesystem::path& folder);

// How kernels are launched, where that is known: the launch that takes most shared memory.
struct Launched {
  int threads = 0;        // per block
  int dynamic_shared = 0; // bytes per block
};
using Launches = std::map<std::string, Launched>; // by LaunchRecord::kernel_name

// Rows of judge::resource_table(), sorted by kernel, for the architecture ("sm_90a") and the op
// whose files lie in `folder`; the site of each is its definition, where the folder `sources` holds
// it. A kernel that `launches` does not hold counts with the threads of
// its __launch_bounds__ (1024 where it has none) and no dynamic shared memory. What machine code
// has is not read (NaN). The fault of a row is what ptxas remarked of the kernel (remarks.h).
// Throws Error naming the file that is missing or broken, or lacks a kernel of the others.
std::vector<judge::ExactMeasured> compiled_resources(const std::filesystem::path& folder,
                                                     std::string_view arch, const std::string& op,
                                                     const Launches& launches,
                                                     const std::filesystem::path& sources);

// "kg::gemm::tiled<true>" -> "gemm.tiled<true>": the op, and the name without the op's namespace.
std::string kernel_key(const std::string& op, std::string name);

} // namespace kg::resources
