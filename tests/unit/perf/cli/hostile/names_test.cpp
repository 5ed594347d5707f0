// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names that become paths: of every place that makes one, that it leads out of no folder.
#include "perf/cli/baselines.h"
#include "perf/cli/counted.h"
#include "perf/lab/study/record.h"
#include "perf/peers/exchange/folder.h"
#include "perf/peers/exchange/models.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/cli/world.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::hostile {
namespace {

using cli::test::Cli;
using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> hostile_names(const std::filesystem::path& folder) {
  return {"../evil", "..",   (folder / "absolute").string(), "a/../../evil", "a/b", ".hidden",
          "-rf",     "a\nb", std::string(300, 'a')};
}

std::set<std::string> files_below(const std::filesystem::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    files.insert(entry.path().string());
  return files;
}

// Files of results, whoever wrote them.
TEST(Names, OfStoredResults) {
  Cli cli;
  const std::string measured = (cli.folder.path() / "measured.json").string();
  ASSERT_EQ(cli({"run", "--op", "fill", "--in-process", "--json", measured}).exit_code, 0);
  const std::string baselines = (cli.folder.path() / "in" / "bb").string();
  std::filesystem::create_directories(baselines);
  json whole = json::parse(*read_file(measured));
  whole["environment"]["source"] = "0123abc";
  const std::string forged = (cli.folder.path() / "forged.json").string();
  for (const std::string& name : hostile_names(cli.folder.path())) {
    json device = whole, op = whole;
    device["environment"]["device"] = name;
    for (json& row : op["rows"]) row["op"] = name;
    for (const json& run : {device, op}) {
      write_file(forged, run.dump());
      const std::set<std::string> before = files_below(cli.folder.path());
      for (const std::vector<std::string>& call :
           {std::vector<std::string>{"bless", "--from", forged, "--why", "x", "--baselines",
                                     baselines},
            {"gate", "--import", forged, "--baselines", baselines}}) {
        SCOPED_TRACE(call.front() + " of " + name);
        const auto outcome = cli(call);
        EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
        EXPECT_THAT(outcome.err, HasSubstr("cannot name a file"));
        EXPECT_EQ(files_below(cli.folder.path()), before);
      }
    }
  }
}

// What makes a path of a name, by what the name is.
TEST(Names, OfEveryPath) {
  const TemporaryFolder folder;
  cli::Options options;
  options.baselines = folder.path() / "in";
  std::filesystem::create_directory(options.baselines);
  const std::map<std::string, std::function<void(const std::string&)>> makers = {
      {"costs", [&](const std::string& name) { cli::cost_file(options, name); }},
      {"resources", [&](const std::string& name) { cli::resource_file(options, name); }},
      {"sources", [&](const std::string& name) { cli::sources_file(options, name); }},
      {"baselines",
       [&](const std::string& name) {
         cli::load_baselines(options.baselines, judge::Device::host, {name});
       }},
      {"device file",
       [&](const std::string& name) { cli::device_file(options.baselines, {name}); }},
      {"device",
       [&](const std::string& name) { cli::load_baselines(options.baselines, name, {}); }},
      {"study",
       [&](const std::string& name) {
         study::Header header;
         header.study = name;
         header.date_utc = "2026";
         study::RecordFile::begin(options.baselines, header);
       }},
      {"case that is given away",
       [&](const std::string& name) {
         exchange::Given given;
         given.row.key.case_id = name;
         exchange::write_cases(options.baselines, {}, {given});
       }},
      {"input that is given away",
       [&](const std::string& name) {
         exchange::Given given;
         given.row.key.case_id = "case";
         given.exchange.inputs = {{name, Dtype::i8, {0}, false}};
         given.exchange.make_inputs = [] {
           return [](std::string_view) { return std::vector<std::byte>(); };
         };
         exchange::write_cases(options.baselines, {}, {given});
       }},
      {"case that comes back",
       [&](const std::string& name) {
         exchange::verify(options.baselines, {name, "torch", judge::Mode::real}, {});
       }},
      {"variant that comes back",
       [&](const std::string& name) {
         exchange::verify(options.baselines, {"case", name, judge::Mode::real}, {});
       }},
      {"model's case",
       [&](const std::string& name) {
         const json model = {
             {"dtype", "f32"},          {"case", name},  {"bytes", 0},   {"flops", 0},
             {"inputs", json::array()}, {"output", "y"}, {"expected", 0}};
         write_file(options.baselines / "models.json",
                    json{{"models", json::array({model})}}.dump());
         exchange::exported_models(options.baselines);
       }},
      {"model's input", [&](const std::string& name) {
         const json input = {{"name", name}, {"dtype", "i8"}, {"extents", {1}}};
         const json model = {{"dtype", "f32"},
                             {"case", "case"},
                             {"bytes", 0},
                             {"flops", 0},
                             {"inputs", json::array({input})},
                             {"output", "y"},
                             {"expected", 0}};
         write_file(options.baselines / "models.json",
                    json{{"models", json::array({model})}}.dump());
         exchange::exported_models(options.baselines).at(0).exchange.make_inputs()(name);
       }}};
  for (const auto& [what, make] : makers) {
    const std::set<std::string> before = files_below(folder.path());
    for (const std::string& name : hostile_names(folder.path())) {
      SCOPED_TRACE(what + " " + name);
      try {
        make(name);
        ADD_FAILURE() << "it is taken";
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("cannot name a file"));
      }
    }
    for (const std::string& file : files_below(folder.path()))
      EXPECT_TRUE(before.contains(file) || file.starts_with(options.baselines.string() + "/"))
          << what << " makes " << file;
  }
}

} // namespace
} // namespace kg::hostile
