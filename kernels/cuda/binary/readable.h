// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kg::emulate {

// The memory from `at` to the end of what this process may read there: images come without their
// size. Empty where nothing is readable.
std::string_view readable_from(const void* at);

} // namespace kg::emulate
