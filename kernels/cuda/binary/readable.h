// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kg::emulate {

// The readable memory from `at` on, because images come without their size. Empty if nothing is
// readable there.
std::string_view readable_from(const void* at);

} // namespace kg::emulate
