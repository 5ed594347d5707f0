// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/warpgroup/multiply_once.h"

#include "instructions/fence_proxy_async.h"
#include "tests/unit/kernels/runtime/warpgroup/aligned_tiles.h"

namespace kg::warpgroup {
namespace {

using ptx::MatrixElement;

constexpr unsigned kOnceThreads = 128, kOnceTileBytes = 32768;

struct Tiles {
  const unsigned* in;
  unsigned* out;
  unsigned char* shared;
  unsigned steps;
  ptx::MatrixLayout a, b;
  bool adds;
  OnceMutant mutant;
};

template <class Sum>
__device__ Sum sum_of(unsigned word) {
  if constexpr (sizeof(Sum) == 4) {
    Sum sum;
    memcpy(&sum, &word, sizeof sum);
    return sum;
  }
}

template <MatrixElement T, class Sum, int kWords, bool kByDepth = true, bool kRegisters = false>
__device__ void multiply(const Tiles& t) {
  const unsigned* registers = t.in + t.steps * kOnceTileBytes / 2;
  const unsigned* first = registers + (kRegisters ? 4 * kOnceThreads * t.steps : 0);
  Sum sums[kWords];
  for (int i = 0; i < kWords; ++i) sums[i] = sum_of<Sum>(first[threadIdx.x * kWords + i]);
  unsigned a[2][4] = {};
  if constexpr (kRegisters)
    for (unsigned i = 0; i < 4 * t.steps; ++i)
      a[i / 4][i % 4] = registers[(i / 4 * kOnceThreads + threadIdx.x) * 4 + i % 4];
  ptx::wgmma_fence();
  KG_UNROLL
  for (unsigned step = 0; step < 2; ++step) {
    if (step >= t.steps) break;
    unsigned char* const tile = t.shared + 2 * step * kOnceTileBytes;
    const auto b = ptx::matrix_descriptor(tile + kOnceTileBytes, t.b);
    const bool adds = t.adds || step > 0;
    if constexpr (kRegisters)
      ptx::wgmma<T, kByDepth>(sums, a[step], b, adds);
    else
      ptx::wgmma<T, kByDepth, kByDepth>(sums, ptx::matrix_descriptor(tile, t.a), b, adds);
  }
  ptx::wgmma_commit();
  if constexpr (kRegisters)
    if (t.mutant == OnceMutant::a_overwritten) a[0][1] += *t.in + 1;
  ptx::wgmma_wait_group<0>(sums);
  if constexpr (kRegisters) // so that the register exists
    if (a[0][1] == 0x12345678) t.out[0] = 0;
  for (int i = 0; i < kWords; ++i) memcpy(t.out + threadIdx.x * kWords + i, &sums[i], 4);
}

} // namespace

__global__ void multiply_once(const unsigned* in, unsigned* out, OnceForm form, unsigned steps,
                              ptx::MatrixLayout a, ptx::MatrixLayout b, bool adds,
                              OnceMutant mutant) {
  unsigned char* const tiles = aligned_tiles();
  for (unsigned i = threadIdx.x; i < steps * kOnceTileBytes / 2; i += kOnceThreads)
    reinterpret_cast<unsigned*>(tiles)[i] = in[i];
  ptx::fence_proxy_async_shared();
  __syncthreads();
  const Tiles t{in, out, tiles, steps, a, b, adds, mutant};
  switch (form) {
  case OnceForm::bf16_n64: return multiply<MatrixElement::bf16, float, 32>(t);
  case OnceForm::f16_n128_turned: return multiply<MatrixElement::f16, float, 64, false>(t);
  case OnceForm::f16_n32_halves: return multiply<MatrixElement::f16, unsigned, 8>(t);
  case OnceForm::tf32_n16: return multiply<MatrixElement::tf32, float, 8>(t);
  case OnceForm::e4m3_n256: return multiply<MatrixElement::e4m3, float, 128>(t);
  case OnceForm::e5m2_n8: return multiply<MatrixElement::e5m2, float, 4>(t);
  case OnceForm::s8_n96: return multiply<MatrixElement::s8, int, 48>(t);
  case OnceForm::bf16_n192_registers:
    return multiply<MatrixElement::bf16, float, 96, true, true>(t);
  }
}

} // namespace kg::warpgroup
