// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kg {

// Which canary a row is compared with where clocks and machines differ: what bounds it on the
// executor or the GPU.
enum class Kind { memory, compute, sync, launch };
std::string_view name(Kind kind);

} // namespace kg
