// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

#include "libraries/not_supported.h"

namespace kg::test {

// Calls a vendor. Returns false and prints the library's message if it does not support the problem
// here.
template <class Call>
bool vendor_runs(Call call) {
  try {
    call();
    return true;
  } catch (const vendor::NotSupported& error) {
    std::puts(error.what());
    return false;
  }
}

} // namespace kg::test
