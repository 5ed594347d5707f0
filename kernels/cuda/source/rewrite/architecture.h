// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Handles `__CUDA_ARCH__`. nvcc compiles a source twice: for the host, without this macro, and for
// the device, with it. The emulator compiles both at once. In device code the macro becomes
// KERNELGRADE_CUDA_ARCH. Elsewhere, a condition on it must have the same result in both passes. The
// preprocessor, which knows the other macros, reports a condition that differs. A macro that
// differs between the passes has its device value, and only device code may use it.
#pragma once

#include "cuda/source/rewrite/edits.h"
#include "cuda/source/rewrite/scopes.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace kg::rewrite {

// The project's macros that may differ between the passes, and the macros that cause this.
using PassMacros = std::map<std::string, std::set<std::string>, std::less<>>;

// `text` is the text of `source`. Adds to `edits`, and adds the source's own macros to `macros`.
// The files of a project are rewritten until `macros` stops growing.
void rewrite_architecture(std::string_view text, const Source& source, const Scopes& scopes,
                          PassMacros& macros, Edits& edits);

} // namespace kg::rewrite
