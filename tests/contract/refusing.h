// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems of which one thing is wrong.
#pragma once

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "runtime/launch.h"

namespace kg::card {

// A function of what is wrong and how it becomes so: of `valid`, so changed, `run` must throw an
// Error and launch nothing.
template <class Problem, class Run>
auto refusing(const Problem& valid, Run run) {
  return [valid, run](const char* what, auto change) {
    Problem wrong = valid;
    change(wrong);
    LaunchRecorder recorder;
    EXPECT_THROW(run(wrong), Error) << what;
    EXPECT_TRUE(recorder.launches().empty()) << what;
  };
}

} // namespace kg::card
