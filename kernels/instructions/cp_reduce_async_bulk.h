// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cp.reduce.async.bulk: one thread combines many elements of global memory with those of shared
// memory (PTX ISA, "Data Movement and Conversion Instructions: cp.reduce.async.bulk"):
//   cp.reduce.async.bulk.global.shared::cta.bulk_group.op.type [to], [from], bytes;
// Addresses and bytes are multiples of 16. Each element is updated atomically, in no particular
// order. Reductions are committed and waited for like the bulk stores of cp_async_bulk.h, and need
// the same fences.
//
// Architecture 9.0 and above. A kernel that uses them on older architectures traps.
#pragma once

#include "instructions/cp_async_bulk.h"
#include "instructions/reduce_text.h"

namespace kg::ptx {

// to[i] = op(to[i], from[i]) for `bytes` bytes of T. T: integers of 32 and 64 bits, f16, bf16,
// float and double, as far as reduces_in_bulk(op, T). `from` is in this block's shared memory. f32
// sums flush subnormal numbers.
#if KG_BACKEND_CUDA

template <ReduceOp op, class T>
__device__ inline void cp_reduce_async_bulk(T* to, const T* from, unsigned bytes) {
  static_assert(kReducesInBulk<op, T>, "no such reduction");
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.%3.%4 [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(shared_address(from)), "r"(bytes), "C"(ReduceOpText<op>::word),
               "C"(kReduceType<op, T>)
               : "memory");
#else
  __trap();
#endif
}

#else

template <ReduceOp op, class T>
void cp_reduce_async_bulk(T* to, const T* from, unsigned bytes, Location where = Location::here()) {
  static_assert(kReducesInBulk<op, T>, "no such reduction");
  host::bulk_reduce({op, ReduceTypeOf<T>::value}, to, from, bytes, "cp_reduce_async_bulk", where);
}

#endif

} // namespace kg::ptx
