// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems of which one thing is wrong, and what is said of them.
#pragma once

#include <string>

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

// The words of the Error that `run` throws; "accepted" where it throws none.
template <class Run>
std::string error_of(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// The same of what must launch nothing where it throws.
template <class Run>
std::string refusal(Run run) {
  const LaunchRecorder recorder;
  std::string words = error_of(run);
  if (words != "accepted") {
    EXPECT_TRUE(recorder.launches().empty()) << words;
  }
  return words;
}

} // namespace kg::card
