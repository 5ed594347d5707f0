// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cp.async.bulk.tensor in im2col mode: one thread moves a column of pixels of a batch of images, of
// rank 3 to 5 (PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk.tensor";
// "Tensors: Im2col mode"; runtime/im2col_tensor.h). `first` is the first channel, and the pixel of
// W, H, D and N from which the column walks the bounding box. It lies within the box. Loads add
// `offsets` to W, H and D of each pixel, and fill what lies outside of the tensor; stores skip it.
//
// In shared memory each pixel is a row of channels. Alignment, mbarriers, groups and fences are
// those of cp_async_bulk_tensor.h.
//
// Architecture 9.0 and above. A kernel that uses them on older architectures traps.
#pragma once

#include "instructions/cp_async_bulk_tensor.h"

namespace kg::ptx {

#if KG_BACKEND_CUDA

// Copies from global memory to this block's shared memory: pixels x channels elements.
template <int Rank>
__device__ inline void
cp_async_bulk_im2col_load(void* to, const TensorMap& map, const int (&first)[Rank],
                          const std::uint16_t (&offsets)[Rank - 2], std::uint64_t* barrier) {
  static_assert(Rank >= 3 && Rank <= 5, "images have 3 to 5 dimensions");
#if __CUDA_ARCH__ >= 900
  if constexpr (Rank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5}], [%2], {%6};" ::"r"(shared_address(to)),
        "l"(&map), "r"(shared_address(barrier)), "r"(first[0]), "r"(first[1]), "r"(first[2]),
        "h"(offsets[0])
        : "memory");
  else if constexpr (Rank == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(shared_address(to)),
        "l"(&map), "r"(shared_address(barrier)), "r"(first[0]), "r"(first[1]), "r"(first[2]),
        "r"(first[3]), "h"(offsets[0]), "h"(offsets[1])
        : "memory");
  else if constexpr (Rank == 5)
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};" ::"r"(shared_address(to)),
        "l"(&map), "r"(shared_address(barrier)), "r"(first[0]), "r"(first[1]), "r"(first[2]),
        "r"(first[3]), "r"(first[4]), "h"(offsets[0]), "h"(offsets[1]), "h"(offsets[2])
        : "memory");
#else
  __trap();
#endif
}

// Copies from this block's shared memory to global memory, with offsets of 0.
template <int Rank>
__device__ inline void cp_async_bulk_im2col_store(const TensorMap& map, const int (&first)[Rank],
                                                  const void* from) {
  static_assert(Rank >= 3 && Rank <= 5, "images have 3 to 5 dimensions");
#if __CUDA_ARCH__ >= 900
  if constexpr (Rank == 3)
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
                 "[%0, {%2, %3, %4}], [%1];" ::"l"(&map),
                 "r"(shared_address(from)), "r"(first[0]), "r"(first[1]), "r"(first[2])
                 : "memory");
  else if constexpr (Rank == 4)
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
                 "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
                 "r"(shared_address(from)), "r"(first[0]), "r"(first[1]), "r"(first[2]),
                 "r"(first[3])
                 : "memory");
  else if constexpr (Rank == 5)
    asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group "
                 "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(&map),
                 "r"(shared_address(from)), "r"(first[0]), "r"(first[1]), "r"(first[2]),
                 "r"(first[3]), "r"(first[4])
                 : "memory");
#else
  __trap();
#endif
}

#else

template <int Rank>
void cp_async_bulk_im2col_load(void* to, const TensorMap& map, const int (&first)[Rank],
                               const std::uint16_t (&offsets)[Rank - 2], std::uint64_t* barrier,
                               Location where = Location::here()) {
  static_assert(Rank >= 3 && Rank <= 5, "images have 3 to 5 dimensions");
  host::BoxOrigin origin = box_origin(first);
  origin.offsets.emplace();
  for (unsigned i = 0; i < Rank - 2; ++i) (*origin.offsets)[i] = offsets[i];
  host::tensor_load(to, &map, origin, barrier, "cp_async_bulk_im2col_load", where);
}
template <int Rank>
void cp_async_bulk_im2col_store(const TensorMap& map, const int (&first)[Rank], const void* from,
                                Location where = Location::here()) {
  static_assert(Rank >= 3 && Rank <= 5, "images have 3 to 5 dimensions");
  host::BoxOrigin origin = box_origin(first);
  origin.offsets.emplace();
  host::tensor_store(&map, origin, from, "cp_async_bulk_im2col_store", where);
}

#endif

} // namespace kg::ptx
