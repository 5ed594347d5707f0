// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade-try-counted, started by `kernelgrade try`: a candidate's costs on a GPU, counted on
// the executor for the listed shapes, and those of our variant that `automatic` selects. Both are
// instrumented and linked with the counters.
#include "perf/code/cost/count_workload.h"
#include "perf/code/cost/metrics.h"
#include "perf/format/sinks.h"
#include "perf/measure/card_operation.h"
#include "runtime/atomic_file.h"
#include "tests/contract/candidate.h"
#include "tests/contract/candidate_program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace kg::candidate {
namespace {

constexpr int kExitUsage = 2;

nlohmann::json counted(const perf::Case& timed, const std::string& id, const std::string& name) {
  const auto variant = std::find_if(timed.variants.begin(), timed.variants.end(),
                                    [&](const perf::Variant& each) { return each.name == name; });
  require(variant != timed.variants.end(), fmt::format("{}: no variant {}", id, name));
  const std::vector<count::Launch> launches =
      cost::count_workload(variant->make(), count::take_launches, id + " " + name);
  nlohmann::json json = {{"variant", name},
                         {"metrics", nlohmann::json::array()},
                         {"launches", nlohmann::json::array()}};
  for (const cost::Metric& metric : cost::metrics(launches, timed.work))
    json["metrics"].push_back({{"name", metric.name},
                               {"value", metric.value},
                               {"minimum", metric.minimum},
                               {"site", metric.site},
                               {"hint", metric.hint}});
  for (const count::Launch& launch : launches)
    json["launches"].push_back({{"kernel", launch.kernel},
                                {"threads", launch.block[0] * launch.block[1] * launch.block[2]},
                                {"shared_bytes", launch.shared_bytes}});
  return json;
}

double sectors_of(const nlohmann::json& counted) {
  for (const nlohmann::json& metric : counted.at("metrics"))
    if (metric.at("name") == "sectors") return metric.at("value");
  return std::numeric_limits<double>::infinity();
}

// The variant that `automatic` selects. If only the operation knows it (gemm's table may decide),
// the variant with the fewest sectors.
nlohmann::json counted(const perf::Case& timed, const std::string& id) {
  if (!timed.automatic.empty()) return counted(timed, id, timed.automatic);
  nlohmann::json best;
  for (const perf::Variant& each : timed.variants) {
    if (each.vendor) continue;
    nlohmann::json its = counted(timed, id, each.name);
    if (best.is_null() || sectors_of(its) < sectors_of(best)) best = std::move(its);
  }
  return best;
}

// Counts both, for every listed shape for which the candidate has a function, and for `shapes`.
nlohmann::json count(const card::Card& card, const std::string& library, Dtype dtype,
                     const std::vector<std::string>& shapes) {
  card::Card candidate = card::candidate_card(card, library, shapes);
  candidate.resolved = [&](const card::Problem&) -> std::string_view {
    return candidate.variants[0].name;
  };
  const perf::Operation ours = perf::card_operation(card), theirs = perf::card_operation(candidate);
  nlohmann::json cases = nlohmann::json::array();
  for (const perf::ListedShape& shape : theirs.shapes) {
    const std::string id = perf::case_id(ours, dtype, shape.text);
    const perf::Case tried = theirs.make(dtype, Shape::parse(shape.text));
    if (tried.variants.empty()) continue; // no function for it
    cases.push_back({{"case", id},
                     {"candidate", counted(tried, id)},
                     {"ours", counted(ours.make(dtype, Shape::parse(shape.text)), id)}});
  }
  return cases;
}

int run(const std::string& op, const std::string& library, const std::string& type,
        const std::string& file, const std::vector<std::string>& shapes) {
  for (const card::Card* card : card::cards()) {
    if (card->name != op) continue;
    for (const Dtype dtype : card->dtypes)
      if (name(dtype) == type) {
        write_file(file, judge::for_json(count(*card, library, dtype, shapes)));
        return EXIT_SUCCESS;
      }
  }
  fail(fmt::format("no descriptor of an operation {} that has the type {}", op, type));
}

} // namespace
} // namespace kg::candidate

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs("usage: kernelgrade-try-counted OP LIBRARY DTYPE FILE [SHAPE]...\n"
               "`kernelgrade try` compiles a source and starts this.\n",
               stderr);
    return kg::candidate::kExitUsage;
  }
  try {
    return kg::candidate::run(argv[1], argv[2], argv[3], argv[4], {argv + 5, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "FAILED: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
