// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace kg::perf {

// Runs `kernelgrade model ARGUMENTS` and returns the exit code. Never throws.
int model_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

} // namespace kg::perf
