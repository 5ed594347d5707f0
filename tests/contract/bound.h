// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kg {

// The canary that a row is compared with if clocks and machines differ: the resource that bounds
// the row on the executor or the GPU.
enum class Bound { memory, compute, sync, launch };
std::string_view name(Bound kind);

} // namespace kg
