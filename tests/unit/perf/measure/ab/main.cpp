// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf/measure/ab/fake_build.h"

#include <gtest/gtest.h>
#include <string>

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "run") return kg::ab::test::fake_build(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
