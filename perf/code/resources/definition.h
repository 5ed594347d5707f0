// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a compiled kernel stands in its sources. Found in their text: cubins hold no lines unless
// they were compiled with them, and what is judged should be compiled as what is timed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kg::resources {

// "kg::gemm::tiled<true>" -> "tiled".
std::string_view last_name(std::string_view kernel);

// The .cu, .cuh and .h files in `folder` itself, those called `first` before the others, by name.
// None where there is no such folder.
std::vector<std::filesystem::path> sources_in(const std::filesystem::path& folder,
                                              const std::string& first);

// "<file>:<line>" of the name in the definition of the kernel that LaunchRecord::kernel_name calls
// `kernel`, in the first of `sources` that has a __global__ function of that name with a body;
// empty where none has.
std::string definition_of(std::string_view kernel,
                          const std::vector<std::filesystem::path>& sources);

} // namespace kg::resources
