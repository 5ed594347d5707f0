// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/without_places.h"

#include "runtime/error.h"

#include <gtest/gtest.h>

namespace kg {
namespace {

std::string said(const std::string& message) {
  try {
    fail(message);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(WithoutPlaces, TakesOurPlacesAlone) {
  EXPECT_EQ(said("m is 0").rfind("tests/unit/kernels/runtime/without_places_test.cpp:", 0), 0u);
  EXPECT_EQ(without_places(said("m is 0; give 1")), "m is 0; give 1");
  EXPECT_EQ(without_places("perf/a/b.cpp:99: tests/c.cu:226: none\nkernels/d.h:1: more"),
            "none\nmore");
  EXPECT_EQ(without_places("--shape: kernels/a/b.cpp:7: m is 0"), "--shape: m is 0");
  // A user's file, and what is no place.
  for (const char* const text : {"softmax.cu:42: error", "my/perf/a.cpp:1: error", "perf/a.cpp: no",
                                 "perf/a.csv:3: no", "perf/a.cpp:x: no", "perf/a.cpp:12", ""})
    EXPECT_EQ(without_places(text), text);
}

TEST(WithoutPlaces, LeavesOurOwnFaults) {
  const std::string text = "kernels/a.cpp:1: cudaMalloc(&p, n) failed: out of memory";
  EXPECT_EQ(without_places(text), text);
}

} // namespace
} // namespace kg
