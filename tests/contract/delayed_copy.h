// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "runtime/stream.h"

namespace kg::card {

// Enqueues a kernel that copies device memory after a long single-threaded computation: tens of
// milliseconds on a GPU. A reader that does not wait for the kernel sees the old contents.
void copy_delayed(const void* from, void* to, std::size_t bytes, Stream& stream);

} // namespace kg::card
