// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The backend of this build: `cuda` (a GPU, compiled by nvcc) or `host` (the SIMT executor on the
// CPU, plain C++). The build defines KG_BACKEND_CUDA as 1 or 0. The backend cannot be switched at
// run time.
#pragma once

#include <string_view>

#ifndef KG_BACKEND_CUDA
#error                                                                                             \
    "KG_BACKEND_CUDA is not defined: link the target kernelgrade::runtime, which defines it for its users"
#endif

namespace kg {

enum class Backend { cuda, host };

inline constexpr Backend backend = KG_BACKEND_CUDA ? Backend::cuda : Backend::host;

constexpr std::string_view name(Backend backend) {
  return backend == Backend::cuda ? "cuda" : "host";
}

} // namespace kg
