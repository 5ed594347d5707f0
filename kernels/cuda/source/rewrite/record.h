// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Inserts the code that records events at run time (cuda/source/record.h): kernels defined, kernels
// started, and calls of functions whose results a GPU rounds differently.
#pragma once

#include "cuda/source/rewrite/edits.h"
#include "cuda/source/rewrite/scopes.h"

#include <string>
#include <string_view>

namespace kg::rewrite {

// `text` is the text of `source`, from `file`. Kernels defined by a macro are not recorded. Adds to
// `edits`.
void record_run(const std::string& file, std::string_view text, const Source& source,
                const Scopes& scopes, Edits& edits);

} // namespace kg::rewrite
