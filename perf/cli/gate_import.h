// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"

namespace kg::cli {

// Judges the files given by `--import` against `--baseline`, or else the committed baselines.
int gate_import(const Options& options, World& world);

} // namespace kg::cli
