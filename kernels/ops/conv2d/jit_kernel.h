// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kg::conv2d {

// The source of jit_kernel.cuh, embedded in the library by the build.
extern const std::string jit_kernel;

} // namespace kg::conv2d
