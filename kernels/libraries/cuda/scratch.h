// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device workspace for libraries that want it from their caller.
#pragma once

#include "runtime/stream.h"

#include <cstddef>

namespace kg::vendor {

// At least `bytes` of device memory, aligned to 256, for work enqueued on `stream` by this thread;
// the next call for the same stream may return the same memory (the stream's order keeps its users
// apart). Memory handed out is never freed before the thread ends, because a captured graph may use
// it; it grows by doubling, so all of it is at most twice the largest request. Graphs captured on
// one stream must not run at the same time. Allocates, which a stream under capture forbids: make
// the call once before.
void* scratch(std::size_t bytes, Stream& stream);

} // namespace kg::vendor
