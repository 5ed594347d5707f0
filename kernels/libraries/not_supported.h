// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/error.h"

namespace kg::vendor {

// A library has nothing for what it was asked, on this device or at all, and says so in these
// words: no fault of the caller's. A row that meets it is skipped.
class NotSupported : public Error {
 public:
  using Error::Error;
};

} // namespace kg::vendor
