// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program's launches cost, as `kernelgrade emulate --counts` stored it
// (kernels/runtime/host/count/counts_file.cpp).
#pragma once

#include "runtime/host/count/counts.h"

#include <filesystem>
#include <vector>

namespace kg::cost {

// In their order. Throws Error with the file and the JSON pointer where it is missing or malformed.
std::vector<count::Launch> load_counts(const std::filesystem::path& path);

} // namespace kg::cost
