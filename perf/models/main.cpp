// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade-model, which `kernelgrade model` starts: a program of its own, since no other command
// needs the models.
#include "perf/models/command.h"

#include <iostream>

int main(int argc, char** argv) {
  return kg::perf::model_command({argv + 1, argv + argc}, std::cout, std::cerr);
}
