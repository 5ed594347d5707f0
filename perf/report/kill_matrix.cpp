// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/kill_matrix.h"

#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kg::report {

KillMatrix kill_matrix_from(const nlohmann::json& root, const std::string& file) {
  try {
    KillMatrix matrix{root.at("op"), {}};
    for (const nlohmann::json& mutant : root.at("mutants"))
      matrix.mutants.push_back({mutant.at("mutant"), mutant.at("place"), mutant.at("why"),
                                mutant.at("killed"), mutant.at("check"), mutant.at("expected"),
                                mutant.at("test"), mutant.at("message")});
    return matrix;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: {}; run the test mutants.<op> again", file, error.what()));
  }
}

std::size_t killed(const KillMatrix& matrix) {
  return static_cast<std::size_t>(std::count_if(matrix.mutants.begin(), matrix.mutants.end(),
                                                [](const Mutant& m) { return m.killed; }));
}

nlohmann::json to_json(const KillMatrix& matrix) {
  nlohmann::json mutants = nlohmann::json::array();
  for (const Mutant& mutant : matrix.mutants)
    mutants.push_back({{"mutant", mutant.name},
                       {"place", mutant.place},
                       {"why", mutant.why},
                       {"killed", mutant.killed},
                       {"check", mutant.check},
                       {"expected", mutant.expected},
                       {"test", mutant.test},
                       {"message", mutant.message}});
  return {{"op", matrix.op}, {"killed", killed(matrix)}, {"mutants", mutants}};
}

} // namespace kg::report
