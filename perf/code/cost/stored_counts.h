// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the launch costs of a program that `kernelgrade emulate --counts` stored
// (kernels/runtime/host/count/counts_file.cpp).
#pragma once

#include "runtime/host/count/counts.h"

#include <filesystem>
#include <vector>

namespace kg::cost {

// Launches in order. Throws Error with file and JSON pointer if it is missing or malformed.
std::vector<count::Launch> load_counts(const std::filesystem::path& path);

} // namespace kg::cost
