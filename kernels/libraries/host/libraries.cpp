// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/host/onednn.h"
#include "libraries/library.h"

#include <cblas.h>
#include <sstream>
#include <thrust/version.h>

namespace kg::vendor {
namespace {

// The configuration reads "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
std::string openblas_version() {
  std::istringstream words(openblas_get_config());
  std::string library, number;
  words >> library >> number;
  return number.empty() ? library : number;
}

std::string thrust_version() {
  return std::to_string(THRUST_MAJOR_VERSION) + "." + std::to_string(THRUST_MINOR_VERSION) + "." +
         std::to_string(THRUST_SUBMINOR_VERSION);
}

} // namespace

std::vector<Library> libraries() {
  return {{"openblas", openblas_version()},
          {"onednn", onednn::version()},
          {"thrust", thrust_version()}};
}

} // namespace kg::vendor
