// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cublas.h"
#include "libraries/cuda/cudnn.h"
#include "libraries/library.h"

#include <cub/version.cuh>

#include <thrust/version.h>

namespace kg::vendor {
namespace {

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

// cublasGetVersion requires a handle and thus a device; cublasGetProperty does not.
std::string cublas_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  KG_CHECK(cublasGetProperty(MAJOR_VERSION, &major));
  KG_CHECK(cublasGetProperty(MINOR_VERSION, &minor));
  KG_CHECK(cublasGetProperty(PATCH_LEVEL, &patch));
  return dotted(major, minor, patch);
}

// 91900 is 9.19.0; before version 9 the major version counted 1000.
std::string cudnn_version() {
  const auto number = static_cast<int>(cudnnGetVersion());
  const int unit = number >= 90000 ? 10000 : 1000;
  return dotted(number / unit, number % unit / 100, number % 100);
}

} // namespace

std::vector<Library> libraries() {
  return {{"cublas", cublas_version()},
          {"cudnn", cudnn_version()},
          {"thrust", dotted(THRUST_MAJOR_VERSION, THRUST_MINOR_VERSION, THRUST_SUBMINOR_VERSION)},
          {"cub", dotted(CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION)}};
}

} // namespace kg::vendor
