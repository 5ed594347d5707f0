// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What code made from PTX (prelude.h) needs for wgmma and setmaxnreg.
#pragma once

#include "runtime/ptx/integers.h"
#include "runtime/ptx/where.h"

namespace kg::ptx_run {

// Types by their places in host::ElementType and host::SumType.
struct Wgmma {
  u32 columns;
  u32 a_type, b_type, sum_type;
  bool a_by_depth, b_by_depth; // K-major
  bool negates_a, negates_b;
};
// `sums` and `a_registers` are the addresses of registers; the latter null: A is at descriptor `a`.
void wgmma(const Wgmma& form, void* const* sums, u64 a, const void* const* a_registers, u64 b,
           bool adds, Where where);
void wgmma_fence(Where where);
void wgmma_commit(Where where);
void wgmma_wait(u32 pending, Where where);
void wgmma_sum_copied(void* to, const void* from);
void wgmma_sum_read(const void* sum, Where where);
void set_registers(u32 count, bool rises, Where where); // setmaxnreg

// A register that may hold a sum, which while it is pending has every bit set.
template <class T>
inline T settled(const T& sum, Where where) {
  if (__builtin_bit_cast(u32, sum) == ~0u) [[unlikely]]
    wgmma_sum_read(&sum, where);
  return sum;
}

} // namespace kg::ptx_run
