// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/assertion.h"

#include "runtime/host/block.h"

#include <cstdio>
#include <cstdlib>

namespace kg::foreign {

void assertion_failed(const char* condition, const char* file, int line, const char* function) {
  if (host::current_block)
    host::current_block->trap(std::string("assertion failed: ") + condition + " in " + function,
                              {file, line});
  std::fprintf(stderr, "%s:%d: %s: Assertion `%s' failed.\n", file, line, function, condition);
  std::abort();
}

} // namespace kg::foreign
