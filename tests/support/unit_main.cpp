// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The main function of unit tests. Like GoogleTest's, but fails for a filter that matches no test
// and for an unknown option, both of which GoogleTest passes.
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
