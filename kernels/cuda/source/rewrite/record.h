// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program is to note as it runs (cuda/source/record.h): each kernel that it holds, that a
// kernel begins, and calls of functions whose results a GPU rounds otherwise.
#pragma once

#include "cuda/source/rewrite/edits.h"
#include "cuda/source/rewrite/scopes.h"

#include <string>
#include <string_view>

namespace kg::rewrite {

// `text` is that of `source`, of `file`. Kernels that a macro defines are not seen. Adds to
// `edits`.
void record_run(const std::string& file, std::string_view text, const Source& source,
                const Scopes& scopes, Edits& edits);

} // namespace kg::rewrite
