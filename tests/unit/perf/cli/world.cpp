// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf/cli/world.h"

#include "perf/cli/lab_commands.h"
#include "runtime/error.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

namespace kg::cli::test {
namespace {

constexpr const char* kBehaviour = "KERNELGRADE_TEST_BEHAVIOUR";

// A row's name, and what it does to its process while it is timed.
struct Fate {
  const Behaviour& behaviour;
  std::string row;

  void meet() const {
    if (row == behaviour.crashes) {
      std::signal(SIGSEGV, SIG_DFL); // a sanitizer would report it first
      std::raise(SIGSEGV);
    }
    if (row == behaviour.loses_device) throw Error("an illegal address was used");
    if (row == behaviour.exhausts) throw Error("cudaErrorMemoryAllocation: out of memory");
    while (row == behaviour.hangs) pause();
  }
};

perf::Variant variant(Behaviour& behaviour, const std::string& name, bool vendor,
                      const std::string& case_id, double times = 1) {
  return {name, vendor,
          [&behaviour, name, case_id, times] {
            const Fate fate{behaviour, case_id + " " + name};
            std::ofstream(behaviour.made, std::ios::app) << fate.row << "\n";
            const auto fresh = std::make_shared<bool>(false);
            perf::Workload made;
            made.variant = name;
            made.poison = [fresh](Stream&) { *fresh = false; };
            made.run = [&behaviour, fresh, fate, times](Stream&) {
              fate.meet();
              behaviour.time.pass(behaviour.copy_ns * times);
              *fresh = true;
            };
            made.verify = [&behaviour, fresh](Stream&) -> std::string {
              std::this_thread::sleep_for(
                  std::chrono::duration<double, std::milli>(behaviour.lasts_ms / 2));
              return *fresh && !behaviour.wrong ? "" : "element 5 is 1, not 2";
            };
            return made;
          },
          true, vendor ? behaviour.note : ""};
}

std::unique_ptr<perf::Apparatus> apparatus(Behaviour& behaviour, perf::Pace pace) {
  auto made = perf::test::fake_apparatus(behaviour.time, behaviour.canary_ns);
  made->instruments.device_problem = [&behaviour] {
    return std::string(behaviour.loses_device.empty() ? "" : "it answers no more");
  };
  if (pace == perf::Pace::brief) made->protocol = perf::brief(made->protocol);
  return made;
}

} // namespace

std::vector<perf::Operation> fake_operations(Behaviour& behaviour) {
  const auto one_number = [](const Shape& shape) {
    const auto n = static_cast<double>(shape.number("n"));
    shape.require_all_used();
    return Work{8 * n, 4 * n, n};
  };
  perf::Operation copy = {"copy",
                          "layout",
                          {Dtype::f32, Dtype::f16},
                          {{"n64", true}, {"n128", false}},
                          [&behaviour, one_number](Dtype dtype, const Shape& shape) {
                            const std::string id =
                                "copy." + std::string(kg::name(dtype)) + "." + shape.text();
                            return perf::Case{Bound::memory,
                                              one_number(shape),
                                              {variant(behaviour, "plain", false, id),
                                               variant(behaviour, "lib", true, id)},
                                              "plain",
                                              false,
                                              behaviour.interleaved};
                          }};
  perf::Operation fill = {"fill",
                          "elementwise",
                          {Dtype::f32},
                          {{"n64", true}},
                          [&behaviour, one_number](Dtype, const Shape& shape) {
                            return perf::Case{
                                Bound::compute,
                                one_number(shape),
                                {variant(behaviour, "plain", false, "fill.f32." + shape.text())}};
                          }};
  std::vector<perf::Operation> operations = {copy, fill};
  if (behaviour.third.empty()) return operations;
  perf::Operation third = copy;
  third.name = behaviour.third;
  third.make = [&behaviour](Dtype dtype, const Shape& shape) {
    const auto n = static_cast<double>(shape.number("n"));
    const double times = std::pow(n, behaviour.growth);
    const std::string id =
        behaviour.third + "." + std::string(kg::name(dtype)) + "." + shape.text();
    return perf::Case{Bound::memory,
                      {8 * n, 4 * n, n},
                      {variant(behaviour, "plain", false, id, times),
                       variant(behaviour, "lib", true, id, times)}};
  };
  operations.push_back(third);
  return operations;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Behaviour, copy_ns, canary_ns, wrong, crashes,
                                                hangs, loses_device, exhausts, third, growth,
                                                interleaved, note, lasts_ms, made)

void hand_down(const Behaviour& behaviour) {
  setenv(kBehaviour, nlohmann::json(behaviour).dump().c_str(), 1);
}

Behaviour handed_down() {
  const char* text = std::getenv(kBehaviour);
  return text ? nlohmann::json::parse(text).get<Behaviour>() : Behaviour{};
}

std::vector<std::string> Cli::made() {
  std::ifstream file(behaviour.made);
  std::vector<std::string> rows;
  for (std::string row; std::getline(file, row);) rows.push_back(row);
  std::filesystem::remove(behaviour.made);
  return rows;
}

std::string Cli::tested(const std::string& op, const std::string& dtype,
                        const std::string& failure) const {
  nlohmann::json test = {
      {"name", "Random"}, {"status", "RUN"}, {"time", "0.01s"}, {"result", "COMPLETED"}};
  if (!failure.empty()) test["failures"] = {{{"failure", failure}, {"type", ""}}};
  const nlohmann::json suite = {{"name", "Suite/" + dtype}, {"testsuite", {test}}};
  const auto file = folder.path() / ("correctness." + op + "." + dtype + ".json");
  write_file(file, nlohmann::json{{"program", op + "_test"}, {"testsuites", {suite}}}.dump());
  return file.string();
}

Outcome Cli::operator()(std::vector<std::string> arguments, std::streambuf* output) {
  const auto has = [&](const char* option) {
    return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
  };
  if (!arguments.empty() && arguments[0] == "gate" && !has("--processes") && !has("--import"))
    arguments.insert(arguments.end(), {"--processes", "1"});
  if (behaviour.made.empty()) behaviour.made = folder.path() / "made";
  hand_down(behaviour);
  std::ostringstream out, err;
  std::ostream given(output);
  World world{
      .operations = fake_operations(behaviour),
      .modes = modes,
      .baselines = baselines(),
      .source = folder.path(),
      .build = folder.path() / "build",
      .executable = executable,
      .no_device = [this] { return no_device; },
      .device = [] { return std::string("host"); },
      .apparatus = [this](perf::Pace pace) { return apparatus(behaviour, pace); },
      .library_identity = [](const std::string& name) { return name + " 1.2"; },
      .lab = lab ? lab_commands() : std::map<std::string, Command>(),
      .terminal = terminal,
      .out = output ? given : static_cast<std::ostream&>(out),
      .err = err,
  };
  const int exit_code = kernelgrade(arguments, world);
  return {exit_code, out.str(), err.str()};
}

void Cli::edit(const std::string& op, const std::string& piece, const std::string& replacement) {
  std::string contents = read_file(csv(op)).value();
  const std::size_t at = contents.find(piece);
  require(at != std::string::npos, "the baselines hold no '" + piece + "':\n" + contents);
  write_file(csv(op), contents.replace(at, piece.size(), replacement));
}

} // namespace kg::cli::test
