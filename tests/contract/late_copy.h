// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "runtime/stream.h"

namespace kg::card {

// Enqueues a kernel that copies device memory after a long computation by one thread, tens of
// milliseconds on a GPU: whoever does not wait for it reads what was there before.
void copy_late(const void* from, void* to, std::size_t bytes, Stream& stream);

} // namespace kg::card
