// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One warpgroup that multiplies tiles by wgmma, of each type.
#pragma once

#include "instructions/wgmma.h"

namespace kg::warpgroup {

enum class OnceForm : int {
  bf16_n64,
  f16_n128_turned, // neither matrix K-major
  f16_n32_halves,
  tf32_n16,
  e4m3_n256,
  e5m2_n8,
  s8_n96,
  bf16_n192_registers,
};

enum class OnceMutant : int {
  none,
  a_overwritten, // a register of A, before the wait
};

// The words of `in` as product_ptx.h has them: shared memory, registers of A, sums; `steps` tiles
// of each matrix, kTileBytes each. `out`: the words of each thread.
__global__ void multiply_once(const unsigned* in, unsigned* out, OnceForm form, unsigned steps,
                              ptx::MatrixLayout a, ptx::MatrixLayout b, bool adds,
                              OnceMutant mutant);

} // namespace kg::warpgroup
