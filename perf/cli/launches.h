// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The executor's launches of the timed cases' kernels.
#pragma once

#include "perf/cli/selection.h"
#include "perf/code/resources/compiled.h"

#include <functional>
#include <map>
#include <string>

namespace kg::cli {

// By op, for the listed rows of our kernels that `wanted` accepts and the build compiles. Runs each
// row once, unverified.
std::map<std::string, kg::resources::Launches>
launches_of(const Selection& selection, const std::function<bool(const Row&)>& wanted);

} // namespace kg::cli
