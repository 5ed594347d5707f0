// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Built as a shared library with -fvisibility=hidden, -fvisibility-inlines-hidden and
// -Wl,-Bsymbolic, with the toolkit's include directory and without ours. See half_cuda_reference.h.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tests/runtime/half_format_table.h"

namespace kg::cuda_reference {

Format half() { return half_table(); }
Format bfloat16() { return bfloat16_table(); }

} // namespace kg::cuda_reference
