// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf/measure/ab/fake_build.h"

#include "perf/judge/result.h"
#include "perf/measure/turns.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace kg::ab::test {
namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The rows of a file of lines "--case C --variant V --mode M".
std::vector<judge::RowKey> read_rows(const std::string& path) {
  std::vector<judge::RowKey> rows;
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string option, case_id, variant, mode;
    words >> option >> case_id >> option >> variant >> option >> mode;
    rows.push_back({case_id, variant, judge::mode_named(mode).value()});
  }
  return rows;
}

judge::Measured measured(const judge::RowKey& key, double ns) {
  judge::Measured row;
  row.op = std::string(judge::op_of(key.case_id));
  row.dtype = std::string(judge::dtype_of(key.case_id));
  row.key = key;
  row.category = "layout";
  if (key.case_id == setting("FAKE_WRONG"))
    row.verified = "element 5 is 1, not 2";
  else
    judge::take_samples(row, std::vector<double>(10, ns));
  return row;
}

} // namespace

int fake_build(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 2; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1]; // --quiet comes last
  const std::vector<judge::RowKey> rows = read_rows(options.at("--batch"));
  if (const std::string log = setting("FAKE_LOG"); !log.empty())
    std::ofstream(log, std::ios::app) << options.at("--source-id") << " " << options.at("--shuffle")
                                      << " " << rows.size() << "\n";
  const std::string ns = setting("FAKE_NS");
  if (const std::string log = setting("FAKE_TURN_LOG"); !log.empty()) {
    const auto turn = perf::turn_here();
    turn->next_row();
    std::ofstream(log, std::ios::app) << options.at("--source-id");
    turn->pass();
    std::ofstream(log, std::ios::app) << options.at("--source-id");
  }
  judge::Results run;
  run.environment["brief"] = setting("KERNELGRADE_BRIEF");
  for (const judge::RowKey& key : rows) {
    if (key.case_id == setting("FAKE_CRASH")) raise(SIGKILL);
    if (key.case_id == setting("FAKE_UNKNOWN")) return 2;
    while (key.case_id == setting("FAKE_HANG")) pause();
    if (key.case_id == setting("FAKE_MISSING")) continue;
    const bool slower =
        key.case_id == setting("FAKE_NOISY") && std::stoul(options.at("--shuffle")) % 2 == 0;
    run.rows.push_back(measured(key, (ns.empty() ? 1000 : std::stod(ns)) * (slower ? 1.06 : 1)));
  }
  judge::save_results(options.at("--json"), run);
  return 0;
}

} // namespace kg::ab::test
