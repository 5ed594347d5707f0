// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/study/record_json.h"

#include "perf/format/json_reader.h"
#include "perf/judge/shards.h"
#include "runtime/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace kg::study {
namespace {

using judge::JsonObject;
using nlohmann::json;

// The first member of a header; the file must begin with its name, but json would sort it.
constexpr const char* kSchema = "kernelgrade_study";

Point point_of(JsonObject object) {
  Point point;
  point.case_id = object.text("case");
  point.label = object.text("label");
  point.group = object.text("group");
  point.size = object.positive("size");
  point.result = object.text("result");
  object.done();
  return point;
}

Traced traced_of(JsonObject object) {
  Traced traced;
  traced.wall_ns = object.positive("wall_ns");
  traced.device_ns = object.from_zero("device_ns");
  object.each("kernels", [&](JsonObject kernel) {
    Kernel part;
    part.name = kernel.text("name");
    part.launches = kernel.from_zero("launches");
    part.total_ns = kernel.from_zero("total_ns");
    traced.kernels.push_back(std::move(part));
    kernel.done();
  });
  object.done();
  return traced;
}

} // namespace

std::string to_json(const Header& header) {
  nlohmann::ordered_json object;
  object[kSchema] = kStudySchema;
  object["study"] = header.study;
  object["settings"] = header.settings;
  object["date_utc"] = header.date_utc;
  object["environment"] = header.environment;
  object["program"] = header.program;
  object["points"] = nlohmann::ordered_json::array();
  for (const Point& point : header.points)
    object["points"].push_back({{"case", point.case_id},
                                {"label", point.label},
                                {"group", point.group},
                                {"size", point.size},
                                {"result", point.result}});
  object["plan"] = nlohmann::ordered_json::array();
  for (const Planned& planned : header.plan)
    object["plan"].push_back({{"case", planned.case_id}, {"variant", planned.variant}});
  if (header.shard) object["shard"] = judge::to_json(*header.shard);
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Header header_from_json(std::string_view line, const std::string& where) {
  const json parsed = judge::parse_json(line, where);
  JsonObject object(parsed, where);
  if (object.positive(kSchema) != kStudySchema)
    object.fail(kSchema, "is a version that this program does not read",
                "use the program it is of");
  Header header;
  header.study = object.text("study");
  header.settings = object.texts("settings");
  header.date_utc = object.text("date_utc");
  header.environment = object.texts("environment");
  for (const char* key : {"device", "source"})
    if (!header.environment.contains(key))
      object.fail("environment", std::string("lacks ") + key, "begin the study anew");
  header.program = object.text("program");
  std::set<std::string> cases;
  object.each("points", [&](JsonObject point) {
    header.points.push_back(point_of(std::move(point)));
    cases.insert(header.points.back().case_id);
  });
  object.each("plan", [&](JsonObject planned) {
    std::string case_id = planned.text("case");
    if (!cases.contains(case_id)) planned.fail("case", "is not a point", "restore the file");
    header.plan.push_back({std::move(case_id), planned.text("variant")});
    planned.done();
  });
  if (object.has("shard")) header.shard = judge::shard_from_json(object.object("shard"));
  object.done();
  return header;
}

std::string to_json(const Experiment& experiment) {
  // The row in the format of all result files (perf/judge/result.h).
  json object = {{"run", json::parse(judge::to_json({experiment.environment, {experiment.row}}))}};
  if (experiment.traced) {
    json kernels = json::array();
    for (const Kernel& kernel : experiment.traced->kernels)
      kernels.push_back(
          {{"name", kernel.name}, {"launches", kernel.launches}, {"total_ns", kernel.total_ns}});
    object["traced"] = {{"wall_ns", experiment.traced->wall_ns},
                        {"device_ns", experiment.traced->device_ns},
                        {"kernels", kernels}};
  }
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Experiment experiment_from_json(std::string_view line, const std::string& where) {
  const json parsed = judge::parse_json(line, where);
  JsonObject object(parsed, where);
  object.object("run"); // requires its presence
  judge::Results run = judge::results_from_json(parsed["run"].dump(), where);
  if (run.rows.size() != 1)
    object.fail("run", fmt::format("has {} rows, not one", run.rows.size()), "restore the file");
  Experiment experiment;
  experiment.row = std::move(run.rows.front());
  experiment.environment = std::move(run.environment);
  if (object.has("traced")) experiment.traced = traced_of(object.object("traced"));
  object.done();
  return experiment;
}

} // namespace kg::study
