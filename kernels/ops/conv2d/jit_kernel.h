// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kg::conv2d {

// The text of jit_kernel.cuh, which the build puts into the library.
extern const std::string jit_kernel;

} // namespace kg::conv2d
