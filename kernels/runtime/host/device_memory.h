// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kg::host {

// Of the contents of all Allocations; never 0. Says whether plain stores changed any, where nobody
// watches.
std::uint64_t device_memory_hash();

} // namespace kg::host
