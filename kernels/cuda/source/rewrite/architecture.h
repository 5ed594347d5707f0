// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// `__CUDA_ARCH__`. nvcc compiles a source twice, once for the host, without this macro, and once
// for the device, with it; here both are compiled at once. So in device code it becomes
// KERNELGRADE_CUDA_ARCH, and everywhere else a condition that asks for it must have the same answer
// in both passes: the preprocessor, which knows the other macros, is made to say where it has not.
// A macro that is another one in the two passes is the device's, and may be used there alone.
#pragma once

#include "cuda/source/rewrite/edits.h"
#include "cuda/source/rewrite/scopes.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace kg::rewrite {

// The macros of a project that may differ between the passes, and because of which others.
using PassMacros = std::map<std::string, std::set<std::string>, std::less<>>;

// `text` is that of `source`. Adds to `edits`, and to `macros` what it defines: the files of a
// project are rewritten until that grows no more.
void rewrite_architecture(std::string_view text, const Source& source, const Scopes& scopes,
                          PassMacros& macros, Edits& edits);

} // namespace kg::rewrite
