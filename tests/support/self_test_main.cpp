// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The main of the self-tests without a device; an operation's test has its own, which knows the
// device.
#include "tests/support/run_tests.h"

int main(int argc, char** argv) {
  return kg::test::run_tests(argc, argv, [] { return "no device: self-tests"; });
}
