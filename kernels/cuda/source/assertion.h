// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kg::foreign {

// In a kernel: ends the kernel with a fault that names the assertion, the block and the thread. On
// the host: prints the C library's message and calls abort().
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const char* function);

} // namespace kg::foreign
