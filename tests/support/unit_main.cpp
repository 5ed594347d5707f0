// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The main of unit tests. It is GoogleTest's, but a selection that matches no test fails, and so
// does an option that there is not: GoogleTest calls both a pass.
#include "tests/support/selected_tests.h"

int main(int argc, char** argv) {
  const bool help = kg::test::asks_for_help(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  if (help) return EXIT_SUCCESS;
  if (argc > 1) {
    std::fprintf(stderr, "unknown option '%s'; --help names the options\n", argv[1]);
    return 2;
  }
  const int code = RUN_ALL_TESTS();
  return kg::test::selects_nothing() ? EXIT_FAILURE : code;
}
