// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decompresses embedded PTX. nvcc uses zstd (--compress-mode=default, size, balance) and LZ4
// (speed).
#pragma once

#include "runtime/ptx/fatbin.h"

#include <string>

namespace kg::emulate {

// The text of a PTX entry, compressed or not. Throws Error if the entry is corrupt.
std::string text_of(const FatbinEntry& entry);

} // namespace kg::emulate
