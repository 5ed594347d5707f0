// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The studies of complete models. Their cases have the operation `model`; another program
// (perf/measure/models) runs them, and frameworks solve them for comparison (`--peer`).
#pragma once

#include "perf/lab/study/study.h"

namespace kg::study {

inline constexpr const char* kModel = "model";       // the operation of their cases
inline constexpr const char* kComposed = "composed"; // the variant composed of our operations

Study mlp(); // how training time grows
Study fps(); // image networks

} // namespace kg::study
