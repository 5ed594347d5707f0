// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/error.h"

namespace kg::vendor {

// The library does not support the request, on this device or at all, and the message says why. The
// caller made no mistake. A row with this error is skipped.
class NotSupported : public Error {
 public:
  using Error::Error;
};

} // namespace kg::vendor
