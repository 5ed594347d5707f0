// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Support for wgmma and setmaxnreg in code translated from PTX (prelude.h).
#pragma once

#include "runtime/ptx/integers.h"
#include "runtime/ptx/where.h"

namespace kg::ptx_run {

// Types are indices into host::ElementType and host::SumType.
struct Wgmma {
  u32 columns;
  u32 a_type, b_type, sum_type;
  bool a_by_depth, b_by_depth; // K-major
  bool negates_a, negates_b;
};
// `sums`, `a_registers`: addresses of registers. Null `a_registers`: A is at descriptor `a`.
void wgmma(const Wgmma& form, void* const* sums, u64 a, const void* const* a_registers, u64 b,
           bool adds, Where where);
void wgmma_fence(Where where);
void wgmma_commit(Where where);
void wgmma_wait(u32 pending, Where where);
void wgmma_sum_copied(void* to, const void* from);
void wgmma_sum_read(const void* sum, Where where);
void set_registers(u32 count, bool rises, Where where); // setmaxnreg

// Reads a register that may hold a sum. A pending sum has every bit set.
template <class T>
inline T settled(const T& sum, Where where) {
  if (__builtin_bit_cast(u32, sum) == ~0u) [[unlikely]]
    wgmma_sum_read(&sum, where);
  return sum;
}

} // namespace kg::ptx_run
