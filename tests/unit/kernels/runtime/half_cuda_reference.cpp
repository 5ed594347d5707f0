// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Built as a shared library with -fvisibility=hidden, -fvisibility-inlines-hidden and
// -Wl,-Bsymbolic, with the toolkit's include directory and without ours. See half_cuda_reference.h.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "tests/unit/kernels/runtime/half_format_table.h"

namespace kg::cuda_reference {

Format half() { return half_table(); }
Format bfloat16() { return bfloat16_table(); }

std::uint8_t fp8_bits(float value, bool e5m2, bool saturate) {
  return __nv_cvt_float_to_fp8(value, saturate ? __NV_SATFINITE : __NV_NOSAT,
                               e5m2 ? __NV_E5M2 : __NV_E4M3);
}
float fp8_value(std::uint8_t bits, bool e5m2) {
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, e5m2 ? __NV_E5M2 : __NV_E4M3)));
}

} // namespace kg::cuda_reference
