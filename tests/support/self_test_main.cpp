// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The main function of self-tests without a device; operations' tests have another one with a
// device.
#include "tests/support/run_tests.h"

int main(int argc, char** argv) {
  return kg::test::run_tests(argc, argv, [] { return "no device: self-tests"; });
}
