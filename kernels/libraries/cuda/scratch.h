// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device workspace for libraries that require it from their caller.
#pragma once

#include "runtime/stream.h"

#include <cstddef>

namespace kg::vendor {

// At least `bytes` of device memory, aligned to 256 bytes, for work that this thread enqueues on
// `stream`. The next call for the same stream may return the same memory, because its users run in
// stream order. Memory is never freed before the thread ends, because a captured graph may use it.
// It grows by doubling from 1 MiB, so above that a stream's total is below 4 times its largest
// request. Graphs captured on one stream must not run concurrently. Capture forbids allocation:
// make the call once before.
void* scratch(std::size_t bytes, Stream& stream);

} // namespace kg::vendor
