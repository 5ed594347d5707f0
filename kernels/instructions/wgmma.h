// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma: a warpgroup (four consecutive warps, the first a multiple of four) multiplies matrices in
// shared memory, while its threads continue (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions"). A has 64 x K and B has K x N elements. K spans 32 bytes. N is
// a multiple of 8 up to 256: here 8, 16, 32, 64, 96, 128, 192 or 256, selected by the number of
// sums. All 128 threads execute it together, with the same descriptors.
//
//   wgmma_fence();                         // after the writes to the registers
//   wgmma<MatrixElement::bf16>(sums, a, b, adds);
//   wgmma_commit();
//   wgmma_wait_group<0>(sums);
//
// Until the wait, no thread may access the sums, modify the registers of A, or write the tiles.
// Ordinary writes to a tile need fence_proxy_async_shared() before the barrier that hands the tile
// over. Thread 32 w + 4 r + c holds sums of rows 16 w + r and 16 w + r + 8: sums[4 j + 2 h + e] is
// row 16 w + r + 8 h, column 8 j + 2 c + e. A in registers has the layout of mma.h, for the warp's
// 16 rows. The hardware determines the order and precision of the additions.
//
// Architecture 9.0a. A kernel that uses it on another architecture traps.
#pragma once

#include "instructions/shared_address.h"
#include "runtime/device_code.h"
#if KG_BACKEND_CUDA
#include "instructions/wgmma_text.h"
#else
#include "runtime/host/warpgroup.h"
#endif

#include <cstdint>
#include <type_traits>

namespace kg::ptx {

enum class MatrixElement : unsigned char { f16, bf16, tf32, e4m3, e5m2, s8 };

// The layout of a matrix in shared memory: the width of its swizzle, and two distances in bytes.
//   K-major (adjacent in k): `stride` between groups of 8 rows; if unswizzled, `leading` between
//     16-byte units of k
//   else, swizzled: `leading` between swizzle widths of m or n, `stride` between groups of 8 in k
//   else, unswizzled: `stride` between groups of 8 in m or n, `leading` between groups of 8 in k
enum class MatrixSwizzle : unsigned char { none = 0, bytes128 = 1, bytes64 = 2, bytes32 = 3 };
struct MatrixLayout {
  MatrixSwizzle swizzle;
  unsigned leading, stride;
};

// Describes a matrix to wgmma. The tile is aligned to 8 rows of the swizzle's width.
struct MatrixDescriptor {
  std::uint64_t bits;
#if !KG_BACKEND_CUDA
  std::uintptr_t window; // base of the addresses in `bits`
#endif
  // The matrix `bytes` further on, a multiple of 16. A step of k is 32 bytes of a K-major row.
  __device__ MatrixDescriptor operator+(unsigned bytes) const {
    MatrixDescriptor next = *this;
    next.bits += bytes >> 4;
    return next;
  }
};

__device__ inline std::uint64_t descriptor_bits(MatrixLayout layout, unsigned first) {
  return std::uint64_t{(first & 0x3FFFF) >> 4} |
         std::uint64_t{(layout.leading & 0x3FFFF) >> 4} << 16 |
         std::uint64_t{(layout.stride & 0x3FFFF) >> 4} << 32 |
         static_cast<std::uint64_t>(layout.swizzle) << 62;
}

#if KG_BACKEND_CUDA

__device__ inline MatrixDescriptor matrix_descriptor(const void* tile, MatrixLayout layout) {
  return {descriptor_bits(layout, shared_address(tile))};
}

__device__ inline void wgmma_fence() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
  __trap();
#endif
}
__device__ inline void wgmma_commit() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
  __trap();
#endif
}
// Waits until at most the latest `kPending` groups are pending.
template <int kPending>
__device__ inline void wgmma_wait_group() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#else
  __trap();
#endif
}
// The same for groups with these sums: nvcc cannot move arithmetic on the sums before the wait.
template <int kPending, class Sum, int kWords>
__device__ inline void wgmma_wait_group(Sum (&sums)[kWords]) {
  wgmma_wait_group<kPending>();
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    if constexpr (std::is_same_v<Sum, float>)
      asm volatile("" : "+f"(sums[i])::"memory");
    else
      asm volatile("" : "+r"(sums[i])::"memory");
  }
}

// sums = A B, plus sums if `adds`. Sum: float; int for s8; for f16 also unsigned, two f16 sums per
// word. Matrices that are not K-major require a 16-bit type.
template <MatrixElement T, bool kAByDepth = true, bool kBByDepth = true, class Sum, int kWords>
__device__ __forceinline__ void wgmma(Sum (&sums)[kWords], MatrixDescriptor a, MatrixDescriptor b,
                                      bool adds) {
  [[maybe_unused]] constexpr int kTurnedA = !kAByDepth, kTurnedB = !kBByDepth;
  [[maybe_unused]] constexpr bool kHalves = std::is_same_v<Sum, unsigned>;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  KG_WGMMA_EACH_TYPE(KG_WGMMA_OF_SHARED)
#else
  __trap();
#endif
}
// With A in registers.
template <MatrixElement T, bool kBByDepth = true, class Sum, int kWords>
__device__ __forceinline__ void wgmma(Sum (&sums)[kWords], const unsigned (&a)[4],
                                      MatrixDescriptor b, bool adds) {
  [[maybe_unused]] constexpr int kTurnedB = !kBByDepth;
  [[maybe_unused]] constexpr bool kHalves = std::is_same_v<Sum, unsigned>;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  KG_WGMMA_EACH_TYPE(KG_WGMMA_OF_REGISTERS)
#else
  __trap();
#endif
}

#else

inline MatrixDescriptor matrix_descriptor(const void* tile, MatrixLayout layout) {
  constexpr std::uintptr_t kPattern = 1024; // bytes, for the widest swizzle
  const auto at = reinterpret_cast<std::uintptr_t>(tile);
  return {descriptor_bits(layout, static_cast<unsigned>(at % kPattern)), at - at % kPattern};
}

inline void wgmma_fence(Location where = Location::here()) {
  host::warpgroup_fence("wgmma_fence", where);
}
inline void wgmma_commit(Location where = Location::here()) {
  host::warpgroup_commit("wgmma_commit", where);
}
template <int kPending>
void wgmma_wait_group(Location where = Location::here()) {
  host::warpgroup_wait(kPending, "wgmma_wait_group", where);
}
template <int kPending, class Sum, int kWords>
void wgmma_wait_group(Sum (&)[kWords], Location where = Location::here()) {
  host::warpgroup_wait(kPending, "wgmma_wait_group", where);
}

template <MatrixElement T, class Sum, int kWords>
host::WarpgroupProduct warpgroup_product(MatrixDescriptor b, bool b_by_depth, bool adds) {
  constexpr bool kHalves = std::is_same_v<Sum, unsigned>;
  constexpr int kColumns = kWords * (kHalves ? 4 : 2);
  static_assert(kColumns == 8 || kColumns == 16 || kColumns == 32 || kColumns == 64 ||
                    kColumns == 96 || kColumns == 128 || kColumns == 192 || kColumns == 256,
                "N is 8, 16, 32, 64, 96, 128, 192 or 256");
  static_assert(kHalves                  ? T == MatrixElement::f16
                : T == MatrixElement::s8 ? std::is_same_v<Sum, int>
                                         : std::is_same_v<Sum, float>,
                "sums are float, of s8 int, and of f16 also unsigned");
  host::WarpgroupProduct product;
  product.columns = kColumns;
  product.a_type = product.b_type = static_cast<host::ElementType>(T);
  product.sum_type = kHalves                  ? host::SumType::f16
                     : T == MatrixElement::s8 ? host::SumType::s32
                                              : host::SumType::f32;
  product.b = {b.bits, b.window, b_by_depth};
  product.adds = adds;
  return product;
}

template <MatrixElement T, bool kAByDepth = true, bool kBByDepth = true, class Sum, int kWords>
void wgmma(Sum (&sums)[kWords], MatrixDescriptor a, MatrixDescriptor b, bool adds,
           Location where = Location::here()) {
  static_assert((kAByDepth && kBByDepth) || T <= MatrixElement::bf16, "K-major");
  host::WarpgroupProduct product = warpgroup_product<T, Sum, kWords>(b, kBByDepth, adds);
  product.a = {a.bits, a.window, kAByDepth};
  void* words[kWords];
  for (int i = 0; i < kWords; ++i) words[i] = &sums[i];
  host::warpgroup_multiply(product, words, nullptr, "wgmma", where);
}
template <MatrixElement T, bool kBByDepth = true, class Sum, int kWords>
void wgmma(Sum (&sums)[kWords], const unsigned (&a)[4], MatrixDescriptor b, bool adds,
           Location where = Location::here()) {
  static_assert(kBByDepth || T <= MatrixElement::bf16, "K-major");
  host::WarpgroupProduct product = warpgroup_product<T, Sum, kWords>(b, kBByDepth, adds);
  product.a_in_registers = true;
  void* words[kWords];
  for (int i = 0; i < kWords; ++i) words[i] = &sums[i];
  const void* const registers[] = {&a[0], &a[1], &a[2], &a[3]};
  host::warpgroup_multiply(product, words, registers, "wgmma", where);
}

#endif

} // namespace kg::ptx
