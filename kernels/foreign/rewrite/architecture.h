// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// `__CUDA_ARCH__`. nvcc compiles a source twice, once for the host, without this macro, and once
// for the device, with it; here both are compiled at once. So in device code it becomes
// KERNELGRADE_CUDA_ARCH, and everywhere else a condition that asks for it must have the same answer
// in both passes: the preprocessor, which knows the other macros, is made to say where it has not.
#pragma once

#include "foreign/rewrite/edits.h"
#include "foreign/rewrite/scopes.h"

#include <string_view>

namespace kg::rewrite {

// `text` is that of `source`. Adds to `edits`.
void rewrite_architecture(std::string_view text, const Source& source, const Scopes& scopes,
                          Edits& edits);

} // namespace kg::rewrite
