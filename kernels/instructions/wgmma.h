// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma: a warpgroup, four warps from a multiple of four on, multiplies matrices that lie in shared
// memory, while its threads go on (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions"). A is of 64 x K and B of K x N elements, where K is 32 bytes
// of them and N a multiple of 8 up to 256: here 8, 16, 32, 64, 96, 128, 192 or 256, by the number
// of sums. All 128 threads execute it together, with the same descriptors.
//
//   wgmma_fence();                         // behind what wrote the registers
//   wgmma<MatrixElement::bf16>(sums, a, b, adds);
//   wgmma_commit();
//   wgmma_wait_group<0>(sums);
//
// Until the wait nobody reads or writes the sums, changes the registers of A, or writes the tiles.
// Ordinary writes to a tile need fence_proxy_async_shared() in front of the barrier that hands it
// over. Thread 32 w + 4 r + c holds of rows 16 w + r and 16 w + r + 8 the sums of columns 8 j + 2 c
// and 8 j + 2 c + 1: sums[4 j + 2 h + e] is row 16 w + r + 8 h, column 8 j + 2 c + e. Registers of
// A are those of mma.h, of the warp's 16 rows. Sums in order and width are the hardware's.
//
// Architecture 9.0a. A kernel that uses them on another traps.
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

// How a matrix lies in shared memory: the width of the swizzle with which it was written, and two
// distances, in bytes. K-major (elements next to each other in k): `stride` from 8 rows to the next
// 8; without a swizzle `leading` from one 16 bytes of k to the next. Else: swizzled, `leading` from
// a swizzle's width of m or n to the next and `stride` from 8 of k to the next 8; without, `stride`
// from 8 of m or n to the next and `leading` from 8 of k to the next.
enum class MatrixSwizzle : unsigned char { none = 0, bytes128 = 1, bytes64 = 2, bytes32 = 3 };
struct MatrixLayout {
  MatrixSwizzle swizzle;
  unsigned leading, stride;
};

// Stands for a matrix. The tile begins at a multiple of 8 rows of the swizzle's width.
struct MatrixDescriptor {
  std::uint64_t bits;
#if !KG_BACKEND_CUDA
  std::uintptr_t window; // the address that those in `bits` count from
#endif
  // The same `bytes` further on, a multiple of 16: a step of k is 32 bytes of a K-major row.
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
// Until at most `kPending` of the latest groups are pending.
template <int kPending>
__device__ inline void wgmma_wait_group() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#else
  __trap();
#endif
}
// The same, of groups with these sums: nvcc moves no arithmetic with them in front of the wait.
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

// sums = A B, plus sums if `adds`. Sum: float, of s8 int; of f16 also unsigned, which is two sums
// in f16. Matrices that are not K-major are for types of 16 bits.
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
  constexpr std::uintptr_t kPattern = 1024; // bytes, of the widest swizzle
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
