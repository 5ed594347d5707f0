// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/kill_matrix.h"

#include "perf/judge/gate.h"
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

std::string mutant_command(const KillMatrix& matrix, const Mutant& mutant) {
  return fmt::format("KERNELGRADE_MUTANT={} build/host/{}_mutants_test", mutant.name, matrix.op);
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
                       {"message", mutant.message},
                       {"again", mutant_command(matrix, mutant)}});
  return {{"op", matrix.op}, {"killed", killed(matrix)}, {"mutants", mutants}};
}

TestSuite junit_suite(const KillMatrix& matrix) {
  TestSuite suite{"mutants." + matrix.op, {}};
  for (const Mutant& mutant : matrix.mutants) {
    TestCase test{suite.name, mutant.name, 0, judge::kExitPass, "killed", ""};
    if (!mutant.killed) {
      test.exit_code = judge::kExitFail;
      test.verdict = "survived";
      test.message = fmt::format("no test finds this bug: {}\nat {}\nagain: {}", mutant.why,
                                 mutant.place, mutant_command(matrix, mutant));
    }
    test.properties = {{"place", mutant.place},
                       {"check", mutant.check},
                       {"expected", mutant.expected},
                       {"test", mutant.test}};
    suite.cases.push_back(std::move(test));
  }
  return suite;
}

} // namespace kg::report
