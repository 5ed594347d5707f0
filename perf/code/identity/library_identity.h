// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The identity of a vendor's row. This program does not contain the library's machine code, so the
// library and its version identify it.
#pragma once

#include "libraries/library.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::identity {

// "cublas 13.0.2", for the library in the variant's name ("cublas" or "cublas_lt"). Empty if it is
// not among `libraries`.
std::string library_identity(std::string_view variant,
                             const std::vector<vendor::Library>& libraries);

} // namespace kg::identity
