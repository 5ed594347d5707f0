// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// __forceinline__, for functions that take or return class types by value. A call may copy such an
// argument from memory or its result to memory. g++ does not instrument these accesses, so the
// checkers and the counters would miss them.
#pragma once

#define __forceinline__ inline __attribute__((always_inline))
