// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kg::host {

// Hash of the contents of all Allocations; never 0. Without an observer, shows whether plain stores
// changed any of them.
std::uint64_t device_memory_hash();

// Whether the program uses a library whose algorithms run on the host here (Thrust, CUB, cuBLAS,
// PyTorch), where no observer sees what device memory they read.
inline bool host_libraries_read = false;

} // namespace kg::host
