// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The studies of whole models. Their cases have the operation `model`; another program
// (perf/measure/models) makes them, and frameworks solve them beside it (`--peer`).
#pragma once

#include "perf/lab/study/study.h"

namespace kg::study {

inline constexpr const char* kModel = "model";       // the operation of their cases
inline constexpr const char* kComposed = "composed"; // the variant that is made of our operations

Study mlp(); // how the time of training grows
Study fps(); // networks for images

} // namespace kg::study
