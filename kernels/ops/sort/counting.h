// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/sort/keys.h"
#include "runtime/stream.h"

#include <cstddef>
#include <cstdint>

namespace kg::sort {

using HalfKeys = Floats<std::uint16_t>;

// Bytes of device workspace that sort_by_counting needs, aligned to 16.
std::size_t counting_bytes();

// Sorts n 16-bit keys by counting them (counting.cu). All pointers are to device memory.
void sort_by_counting(HalfKeys order, const std::uint16_t* keys, std::uint16_t* sorted_keys, int n,
                      void* workspace, Stream& stream);

} // namespace kg::sort
