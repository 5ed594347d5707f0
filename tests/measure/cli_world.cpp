// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/measure/cli_world.h"

#include "perf/measure/child_process.h"
#include "runtime/error.h"

#include <algorithm>
#include <memory>

namespace kg::cli::test {
namespace {

perf::Variant variant(Behaviour& behaviour, const std::string& name, bool vendor) {
  return {name, vendor, [&behaviour, name] {
            ++behaviour.measured;
            const auto fresh = std::make_shared<bool>(false);
            perf::Workload made;
            made.variant = name;
            made.poison = [fresh](Stream&) { *fresh = false; };
            made.run = [&behaviour, fresh](Stream&) {
              behaviour.time.pass(behaviour.copy_ns);
              *fresh = true;
            };
            made.verify = [&behaviour, fresh](Stream&) -> std::string {
              return *fresh && !behaviour.wrong ? "" : "element 5 is 1, not 2";
            };
            return made;
          }};
}

} // namespace

std::vector<perf::Operation> fake_operations(Behaviour& behaviour) {
  const auto one_number = [](const perf::Shape& shape) {
    const auto n = static_cast<double>(shape.number("n"));
    shape.require_all_used();
    return Work{8 * n, n};
  };
  perf::Operation copy = {
      "copy",
      "layout",
      {Dtype::f32, Dtype::f16},
      {{"n64", true}, {"n128", false}},
      [&behaviour, one_number](Dtype, const perf::Shape& shape) {
        return perf::Case{perf::Kind::memory,
                          one_number(shape),
                          {variant(behaviour, "plain", false), variant(behaviour, "lib", true)}};
      }};
  perf::Operation fill = {"fill",
                          "elementwise",
                          {Dtype::f32},
                          {{"n64", true}},
                          [&behaviour, one_number](Dtype, const perf::Shape& shape) {
                            return perf::Case{perf::Kind::compute,
                                              one_number(shape),
                                              {variant(behaviour, "plain", false)}};
                          }};
  return {copy, fill};
}

Outcome Cli::operator()(std::vector<std::string> arguments) {
  // In this process, whose behaviour the tests set.
  if (!arguments.empty() && arguments[0] == "gate" &&
      std::find(arguments.begin(), arguments.end(), "--processes") == arguments.end())
    arguments.insert(arguments.end(), {"--processes", "1"});
  std::ostringstream out, err;
  World world{
      .operations = fake_operations(behaviour),
      .modes = modes,
      .baselines = baselines(),
      .source = folder.path(),
      .build = folder.path() / "build",
      .executable = perf::this_executable(),
      .no_device = [this] { return no_device; },
      .device = [] { return std::string("host"); },
      .apparatus =
          [this] { return perf::test::fake_apparatus(behaviour.time, behaviour.canary_ns); },
      .out = out,
      .err = err,
  };
  const int exit_code = kernelgrade(arguments, world);
  return {exit_code, out.str(), err.str()};
}

void Cli::edit(const std::string& op, const std::string& piece, const std::string& replacement) {
  std::string contents = judge::read_file(csv(op)).value();
  const std::size_t at = contents.find(piece);
  require(at != std::string::npos, "the baselines hold no '" + piece + "':\n" + contents);
  judge::write_file(csv(op), contents.replace(at, piece.size(), replacement));
}

} // namespace kg::cli::test
