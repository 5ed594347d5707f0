// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The two compressions in which nvcc embeds PTX: zstd (--compress-mode=default, size, balance) and
// LZ4 (speed).
#pragma once

#include "runtime/ptx/fatbin.h"

#include <string>

namespace kg::emulate {

// The text of an entry with PTX, compressed or not. Throws Error where it is broken.
std::string text_of(const FatbinEntry& entry);

} // namespace kg::emulate
