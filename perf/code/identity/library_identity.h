// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The identity of a vendor's row. Its machine code is not in this program: the library and its
// version stand for it.
#pragma once

#include "libraries/library.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::identity {

// "cublas 13.0.2": of the library that the variant is named after, as "cublas" or "cublas_lt".
// Empty where it is none of `libraries`.
std::string library_identity(std::string_view variant,
                             const std::vector<vendor::Library>& libraries);

} // namespace kg::identity
