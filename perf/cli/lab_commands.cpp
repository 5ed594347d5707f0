// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/lab_commands.h"

namespace kg::cli {

const std::map<std::string, Command>& lab_commands() {
  static const std::map<std::string, Command> kCommands = {
      {"ceilings", ceilings}, {"choose", choose},   {"merge study", merge_studies},
      {"peers", peers},       {"profile", profile}, {"report study", report_study},
      {"selftest", selftest}, {"study", study},     {"try", try_candidate}};
  return kCommands;
}

} // namespace kg::cli
