// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade-model, which `kernelgrade model` starts. A separate program, since no other command
// needs the models.
#include "perf/judge/command.h"
#include "perf/measure/child_process.h"
#include "perf/measure/models/command.h"

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  const char* const path = std::getenv("PATH");
  kg::judge::set_commands(kg::judge::commands_for(std::filesystem::current_path(),
                                                  kg::perf::this_executable(),
                                                  KERNELGRADE_BUILD_DIR, path ? path : ""));
  return kg::perf::model_command({argv + 1, argv + argc}, std::cout, std::cerr);
}
