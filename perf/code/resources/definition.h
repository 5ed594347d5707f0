// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds a compiled kernel's definition in its sources by text search. Cubins hold line numbers only
// if compiled for it, and judged kernels should be compiled exactly as timed ones.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kg::resources {

// "kg::gemm::tiled<true>" -> "tiled".
std::string_view last_name(std::string_view kernel);

// The .cu, .cuh and .h files directly in `folder`, files named `first` before the others, by name.
// Empty if the folder does not exist.
std::vector<std::filesystem::path> sources_in(const std::filesystem::path& folder,
                                              const std::string& first);

// "<file>:<line>" of the kernel's name in its definition. `kernel` is a LaunchRecord::kernel_name.
// Uses the first of `sources` with a __global__ function of that name that has a body. Empty if
// there is none.
std::string definition_of(std::string_view kernel,
                          const std::vector<std::filesystem::path>& sources);

} // namespace kg::resources
