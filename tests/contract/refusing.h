// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems with exactly one wrong argument, and the errors that they must cause.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "runtime/launch.h"

namespace kg::card {

// Returns a function of a description and a change: with `valid` so changed, `run` must throw an
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

// The message of the Error that `run` throws; "accepted" if it throws none.
template <class Run>
std::string error_of(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// The same; a run that throws must not have launched anything.
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
