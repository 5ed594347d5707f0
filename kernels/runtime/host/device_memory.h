// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kg::host {

// Hash of the contents of all Allocations; never 0. Without an observer, shows whether plain stores
// changed any of them.
std::uint64_t device_memory_hash();

// Whether the program uses CCCL's headers. Their algorithms run on the host, where no observer sees
// what device memory they read.
inline bool cccl_reads_unseen = false;

} // namespace kg::host
