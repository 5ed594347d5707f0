// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/suite.h"

#include "runtime/backend.h"

namespace kg::perf {

bool is_timed_in_sequence(std::int64_t elements) {
  constexpr std::int64_t kMost = 1 << 16;
  return backend == Backend::host || elements <= kMost;
}

} // namespace kg::perf
