// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// mutate <spec.json> <kernels folder> <output folder>
#include <cstdio>
#include <exception>

#include "tests/mutation/mutants/mutate.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: mutate <spec.json> <kernels folder> <output folder>\n", stderr);
    return 2;
  }
  try {
    kg::mutants::write_mutated(kg::mutants::read_spec(argv[1]), argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
