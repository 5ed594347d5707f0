// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What numbers of the command line may be: above 0, finite and in range. CLI11's own check lets NaN
// pass.
#pragma once

#include <CLI/CLI.hpp>

namespace kg::cli {

CLI::Validator seconds(); // up to a day
CLI::Validator minutes(); // up to a week
CLI::Validator percent(); // up to 100

} // namespace kg::cli
