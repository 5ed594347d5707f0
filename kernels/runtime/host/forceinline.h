// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// __forceinline__, for what takes or returns a value of a class. The accesses that a call itself
// makes, where it copies such an argument from memory or its result to memory, are the only ones
// that g++ does not instrument, so that the checkers and the counters would miss them.
#pragma once

#define __forceinline__ inline __attribute__((always_inline))
