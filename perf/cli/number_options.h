// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranges of numeric options: positive, finite and limited. CLI11's own check accepts NaN.
#pragma once

#include <CLI/CLI.hpp>

namespace kg::cli {

CLI::Validator seconds(); // up to a day
CLI::Validator minutes(); // up to a week
CLI::Validator percent(); // up to 100

} // namespace kg::cli
