// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cp.async.bulk.tensor: one thread moves a box of a tensor of rank 1 to 5 (PTX ISA, "Data Movement
// and Conversion Instructions: cp.async.bulk.tensor", tiled mode). The tensor map holds the
// tensor's address, the box's extents and its swizzle in shared memory. `first` is where the box
// begins, in elements, the contiguous dimension first. Coordinates may lie outside of the tensor:
// loads fill such elements, stores skip them.
//
// In shared memory a box is aligned to 128 bytes, and the swizzle pattern follows the address.
// Write `__shared__ __align__(1024)`: the checkers lose an alignas placed in front. Loads complete
// the bytes of the whole box at the mbarrier. Stores are committed and waited for as in
// cp_async_bulk.h, and need the same fences.
//
// Architecture 9.0 and above. A kernel that uses them on older architectures traps.
#pragma once

#include "instructions/shared_address.h"
#include "runtime/device_code.h"
#include "runtime/tensor_map.h"
#if !KG_BACKEND_CUDA
#include "runtime/host/bulk_tensor.h"
#endif

#include <cstdint>

namespace kg::ptx {

#if KG_BACKEND_CUDA

// Copies from global memory to this block's shared memory.
template <int Rank>
__device__ inline void cp_async_bulk_tensor_load(void* to, const TensorMap& map,
                                                 const int (&first)[Rank], std::uint64_t* barrier) {
  static_assert(Rank >= 1 && Rank <= 5, "a tensor has 1 to 5 dimensions");
#if __CUDA_ARCH__ >= 900
  if constexpr (Rank == 1)
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3}], [%2];" ::"r"(shared_address(to)),
                 "l"(&map), "r"(shared_address(barrier)), "r"(first[0])
                 : "memory");
  else if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(to)),
                 "l"(&map), "r"(shared_address(barrier)), "r"(first[0]), "r"(first[1])
                 : "memory");
  else if constexpr (Rank == 3)
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared_address(to)),
                 "l"(&map), "r"(shared_address(barrier)), "r"(first[0]), "r"(first[1]),
                 "r"(first[2])
                 : "memory");
  else if constexpr (Rank == 4)
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared_address(to)),
                 "l"(&map), "r"(shared_address(barrier)), "r"(first[0]), "r"(first[1]),
                 "r"(first[2]), "r"(first[3])
                 : "memory");
  else if constexpr (Rank == 5)
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(shared_address(to)),
                 "l"(&map), "r"(shared_address(barrier)), "r"(first[0]), "r"(first[1]),
                 "r"(first[2]), "r"(first[3]), "r"(first[4])
                 : "memory");
#else
  __trap();
#endif
}

// The same into every block of the cluster whose rank has its bit set in `blocks`. In each of these
// blocks the box and the mbarrier lie at the same offset, and the mbarrier must expect the bytes.
template <int Rank>
__device__ inline void
cp_async_bulk_tensor_multicast(void* to, const TensorMap& map, const int (&first)[Rank],
                               std::uint64_t* barrier, std::uint16_t blocks) {
  static_assert(Rank == 2 || Rank == 3, "tiles of matrices and of batches of them");
#if __CUDA_ARCH__ >= 900
  if constexpr (Rank == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(shared_address(to)),
                 "l"(&map), "r"(shared_address(barrier)), "h"(blocks), "r"(first[0]), "r"(first[1])
                 : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%4, %5, %6}], [%2], %3;" ::"r"(shared_address(to)),
        "l"(&map), "r"(shared_address(barrier)), "h"(blocks), "r"(first[0]), "r"(first[1]),
        "r"(first[2])
        : "memory");
#else
  __trap();
#endif
}

// Copies from this block's shared memory to global memory.
template <int Rank>
__device__ inline void cp_async_bulk_tensor_store(const TensorMap& map, const int (&first)[Rank],
                                                  const void* from) {
  static_assert(Rank >= 1 && Rank <= 5, "a tensor has 1 to 5 dimensions");
#if __CUDA_ARCH__ >= 900
  if constexpr (Rank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], [%1];" ::"l"(&map),
        "r"(shared_address(from)), "r"(first[0])
        : "memory");
  else if constexpr (Rank == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
            &map),
        "r"(shared_address(from)), "r"(first[0]), "r"(first[1])
        : "memory");
  else if constexpr (Rank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::
            "l"(&map),
        "r"(shared_address(from)), "r"(first[0]), "r"(first[1]), "r"(first[2])
        : "memory");
  else if constexpr (Rank == 4)
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, "
                 "%5}], [%1];" ::"l"(&map),
                 "r"(shared_address(from)), "r"(first[0]), "r"(first[1]), "r"(first[2]),
                 "r"(first[3])
                 : "memory");
  else if constexpr (Rank == 5)
    asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5, "
                 "%6}], [%1];" ::"l"(&map),
                 "r"(shared_address(from)), "r"(first[0]), "r"(first[1]), "r"(first[2]),
                 "r"(first[3]), "r"(first[4])
                 : "memory");
#else
  __trap();
#endif
}

// Hints that the map will be used soon.
__device__ inline void prefetch_tensormap(const TensorMap& map) {
#if __CUDA_ARCH__ >= 900
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
#else
  __trap();
#endif
}

#else

template <int Rank>
host::BoxOrigin box_origin(const int (&first)[Rank]) {
  static_assert(Rank >= 1 && Rank <= 5, "a tensor has 1 to 5 dimensions");
  host::BoxOrigin origin{Rank, {}};
  for (unsigned i = 0; i < Rank; ++i) origin.at[i] = first[i];
  return origin;
}

template <int Rank>
void cp_async_bulk_tensor_load(void* to, const TensorMap& map, const int (&first)[Rank],
                               std::uint64_t* barrier, Location where = Location::here()) {
  host::tensor_load(to, &map, box_origin(first), barrier, "cp_async_bulk_tensor_load", where);
}
// On the host, `to` and `barrier` must be in dynamic shared memory
// (cluster_group::map_shared_rank).
template <int Rank>
void cp_async_bulk_tensor_multicast(void* to, const TensorMap& map, const int (&first)[Rank],
                                    std::uint64_t* barrier, std::uint16_t blocks,
                                    Location where = Location::here()) {
  host::tensor_multicast(to, &map, box_origin(first), barrier, blocks,
                         "cp_async_bulk_tensor_multicast", where);
}
template <int Rank>
void cp_async_bulk_tensor_store(const TensorMap& map, const int (&first)[Rank], const void* from,
                                Location where = Location::here()) {
  host::tensor_store(&map, box_origin(first), from, "cp_async_bulk_tensor_store", where);
}
inline void prefetch_tensormap(const TensorMap&) {}

#endif

} // namespace kg::ptx
