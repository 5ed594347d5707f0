// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares on the device: reading gigabytes back to the host would take many seconds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/stream.h"

namespace kg::test {

// How many of `count` elements in device memory (1, 2, 4 or 8 bytes each, naturally aligned) have
// other bits than `bits`. Waits for the device.
std::int64_t count_unequal(const void* device, std::int64_t count, std::size_t element_bytes,
                           std::uint64_t bits, Stream& stream);

} // namespace kg::test
