// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The resources of an operation's compiled kernels. Folders <arch>-cuda<major.minor>/<op>/ hold one
// fatbin and one ptxas log per source file (cmake/Resources.cmake).
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

// The subfolders of a build's folder of compiled kernels, by name. Empty if it does not exist.
std::vector<Compiled> compiled_in(const std::filesystem::path& folder);

// Whether an operation's folder holds compiled kernels.
bool is_compiled(const std::filesystem::path& folder);

// A kernel's launch configuration: the launch with the most shared memory.
struct Launched {
  int threads = 0;        // per block
  int dynamic_shared = 0; // bytes per block
};
using Launches = std::map<std::string, Launched>; // by LaunchRecord::kernel_name

// Rows of judge::resource_table() for the architecture ("sm_90a") and the operation with the
// compiled files in `folder`, sorted by kernel. A row's site is the kernel's definition, if found
// in the folder `sources`. A kernel absent from `launches` is assumed to have the threads of its
// __launch_bounds__ (1024 without) and no dynamic shared memory. Machine code columns are NaN. A
// row's fault is a ptxas remark about the kernel (remarks.h). Throws Error with the file that is
// missing or broken, or that lacks one of the kernels.
std::vector<judge::ExactMeasured> compiled_resources(const std::filesystem::path& folder,
                                                     std::string_view arch, const std::string& op,
                                                     const Launches& launches,
                                                     const std::filesystem::path& sources);

// "kg::gemm::tiled<true>" -> "gemm.tiled<true>": the operation, and the name without its namespace.
std::string kernel_key(const std::string& op, std::string name);

} // namespace kg::resources
