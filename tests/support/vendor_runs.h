// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

#include "libraries/not_supported.h"

namespace kg::test {

// Makes a vendor's call. False where the library says that it has nothing for the problem here: its
// words go to the console.
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
