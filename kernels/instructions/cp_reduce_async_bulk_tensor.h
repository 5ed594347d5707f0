// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cp.reduce.async.bulk.tensor: one thread combines a box of a tensor in global memory with the one
// in shared memory (PTX ISA, "Data Movement and Conversion Instructions:
// cp.reduce.async.bulk.tensor", tiled mode). Boxes, maps and coordinates are those of
// cp_async_bulk_tensor.h; elements outside of the tensor are skipped. The tensor's type says how
// elements are combined. Each is updated atomically, in no particular order. Reductions are
// committed and waited for like bulk stores, and need the same fences.
//
// Architecture 9.0 and above. A kernel that uses them on older architectures traps.
#pragma once

#include "instructions/cp_async_bulk_tensor.h"
#include "instructions/reduce_text.h"

namespace kg::ptx {

#if KG_BACKEND_CUDA

template <ReduceOp op, int Rank>
__device__ inline void cp_reduce_async_bulk_tensor(const TensorMap& map, const int (&first)[Rank],
                                                   const void* from) {
  static_assert(Rank >= 1 && Rank <= 5, "a tensor has 1 to 5 dimensions");
#if __CUDA_ARCH__ >= 900
  if constexpr (Rank == 1)
    asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.%2.tile.bulk_group "
                 "[%0, {%3}], [%1];" ::"l"(&map),
                 "r"(shared_address(from)), "C"(ReduceOpText<op>::word), "r"(first[0])
                 : "memory");
  else if constexpr (Rank == 2)
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.%2.tile.bulk_group "
                 "[%0, {%3, %4}], [%1];" ::"l"(&map),
                 "r"(shared_address(from)), "C"(ReduceOpText<op>::word), "r"(first[0]),
                 "r"(first[1])
                 : "memory");
  else if constexpr (Rank == 3)
    asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.%2.tile.bulk_group "
                 "[%0, {%3, %4, %5}], [%1];" ::"l"(&map),
                 "r"(shared_address(from)), "C"(ReduceOpText<op>::word), "r"(first[0]),
                 "r"(first[1]), "r"(first[2])
                 : "memory");
  else if constexpr (Rank == 4)
    asm volatile("cp.reduce.async.bulk.tensor.4d.global.shared::cta.%2.tile.bulk_group "
                 "[%0, {%3, %4, %5, %6}], [%1];" ::"l"(&map),
                 "r"(shared_address(from)), "C"(ReduceOpText<op>::word), "r"(first[0]),
                 "r"(first[1]), "r"(first[2]), "r"(first[3])
                 : "memory");
  else
    asm volatile("cp.reduce.async.bulk.tensor.5d.global.shared::cta.%2.tile.bulk_group "
                 "[%0, {%3, %4, %5, %6, %7}], [%1];" ::"l"(&map),
                 "r"(shared_address(from)), "C"(ReduceOpText<op>::word), "r"(first[0]),
                 "r"(first[1]), "r"(first[2]), "r"(first[3]), "r"(first[4])
                 : "memory");
#else
  __trap();
#endif
}

#else

template <ReduceOp op, int Rank>
void cp_reduce_async_bulk_tensor(const TensorMap& map, const int (&first)[Rank], const void* from,
                                 Location where = Location::here()) {
  host::tensor_reduce(op, &map, box_origin(first), from, "cp_reduce_async_bulk_tensor", where);
}

#endif

} // namespace kg::ptx
