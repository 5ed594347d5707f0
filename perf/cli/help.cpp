// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/help.h"

#include "perf/cli/common_options.h"
#include "perf/cli/help_format.h"
#include "perf/cli/row_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace kg::cli {
namespace {

struct Described {
  const char* group;
  const char* examples;        // a line each
  const char* exit_codes = ""; // where they differ from those of the whole
};

constexpr const char* kYours = "Kernels of your own";
constexpr const char* kTest = "Measure and gate";
constexpr const char* kWhy = "Find out why";
constexpr const char* kStored = "Stored results";
constexpr const char* kLab = "Studies";
constexpr const char* kFurther = "Further commands"; // which nobody has described below

const std::map<std::string, Described>& descriptions() {
  static const std::map<std::string, Described> kAll = {
      {"try",
       {kYours, "  kernelgrade try softmax my_softmax.cu --dtype f32\n"
                "  kernelgrade try softmax --signature > my_softmax.cu\n"}},
      {"check", {kYours, ""}}, // a program of its own, as model
      {"emulate",
       {kYours, "  kernelgrade emulate --checked -- ./program argument\n"
                "  kernelgrade emulate --counts counts.json -- ./program argument\n"}},
      {"list",
       {kTest, "  kernelgrade list --op gemm,softmax --dtype f32\n"
               "  kernelgrade list --models\n"}},
      {"run",
       {kTest, "  kernelgrade run --op softmax --shape rows1000_cols777\n"
               "  kernelgrade run --op gemm --dtype f32 --json gemm.json\n"}},
      {"gate",
       {kTest, "  kernelgrade gate --op softmax --confirm auto\n"
               "  kernelgrade gate --cost --op softmax,gemm\n"}},
      {"bless",
       {kTest, "  kernelgrade bless --op softmax --why 'one pass less'\n"
               "  kernelgrade bless --cost --op transpose --why 'tiles of 64 x 64'\n"}},
      {"ab",
       {kTest, "  kernelgrade ab --op softmax --base main\n"
               "  kernelgrade ab --op gemm --dtype bf16 --base HEAD~1 --pairs 20\n"}},
      {"resources",
       {kTest, "  kernelgrade resources --op softmax,gemm\n"
               "  kernelgrade resources --op gemm --bless --why 'a deeper pipeline'\n"}},
      {"profile",
       {kWhy, "  kernelgrade profile --cost --op transpose\n"
              "  kernelgrade profile --sass --op softmax --dtype f32\n"}},
      {"doctor",
       {kWhy, "  kernelgrade doctor\n"
              "  kernelgrade doctor --device nvidia-h200\n"}},
      {"ceilings",
       {kWhy, "  kernelgrade ceilings\n"
              "  kernelgrade ceilings --write\n"}},
      {"compare",
       {kStored, "  kernelgrade compare before.json after.json\n"
                 "  kernelgrade compare h100.json h200.json --across-devices --markdown\n"}},
      {"report",
       {kStored, "  kernelgrade report run.json --out report\n"
                 "  kernelgrade report shard1.json shard2.json --history history.sqlite\n"}},
      {"merge",
       {kStored, "  kernelgrade merge 1.json 2.json --json all.json\n"
                 "  kernelgrade merge shards/1.json shards/2.json --json study.json\n"}},
      {"history",
       {kStored, "  kernelgrade history show --case softmax\n"
                 "  kernelgrade history import report/runs/20260101T000000Z/report.json\n"}},
      {"choose",
       {kStored, "  kernelgrade choose run.json --op gemm\n"
                 "  kernelgrade choose run.json --op gemm --mode hot --out choices.inc\n"}},
      {"study",
       {kLab,
        "  kernelgrade study matmul --max-size 1024\n"
        "  kernelgrade study matmul --max-size 1024 --resume\n"
        "  kernelgrade report report/studies/matmul.jsonl\n",
        "Exit codes: 0 passed; 1 a wrong result, or an exponent outside its tolerance; 2 usage "
        "error; "
        "77 nothing was measured."}},
      {"peers",
       {kLab, "  kernelgrade peers --op softmax --peer torch,jax\n"
              "  kernelgrade peers --op gemm --dtype bf16 --peer torch --json gemm.json\n"}},
      {"model", {kLab, ""}},
      {"selftest",
       {kLab, "  kernelgrade selftest aa inject=3,5,10 --op softmax\n"
              "  kernelgrade selftest --table calibration.csv\n"}},
  };
  return kAll;
}

constexpr const char* kFooter =
    "Examples:\n"
    "  kernelgrade run --op softmax --dtype f32\n"
    "  kernelgrade profile --cost --op transpose\n"
    "  kernelgrade try softmax my_softmax.cu\n\n"
    "kernelgrade help COMMAND describes a command.\n"
    "kernelgrade help filters describes the options that choose rows.\n";

constexpr const char* kFilterExamples =
    "Examples:\n"
    "  kernelgrade list --op gemm,softmax --dtype f32,bf16\n"
    "  kernelgrade run --case softmax.f32.rows64_cols1024 --mode cold,hot\n"
    "  kernelgrade run --batch rows.txt\n";
constexpr const char* kFilterRules = "A row is measured if it matches one word of each option that "
                                     "is given. A list has commas and no "
                                     "spaces.";

// An app that has the row filters and nothing else.
std::string filters(std::string (*write)(const CLI::App&, const std::string&)) {
  CLI::App app;
  Words words;
  add_rows(app, words);
  return write(app, kRows);
}

const CLI::App* command_named(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands({}))
    if (command->get_name() == name) return command;
  return nullptr;
}

std::string all_commands(const CLI::App& app) {
  std::string list;
  for (const CLI::App* command : app.get_subcommands({})) list += command->get_name() + ", ";
  return list + "filters";
}

} // namespace

void describe(CLI::App& app) {
  app.footer(kFooter);
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    const auto found = descriptions().find(command->get_name());
    command->group(found == descriptions().end() ? kFurther : found->second.group);
    if (found == descriptions().end() || *found->second.examples == '\0') continue;
    command->footer(fmt::format("Examples:\n{}{}{}", found->second.examples,
                                *found->second.exit_codes == '\0' ? "" : "\n",
                                text_of_paragraph(found->second.exit_codes)));
  }
  format_help(app);
}

std::string help_text(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return app.help();
  if (words.size() > 1)
    throw UsageError(fmt::format("help: expected one word, got {}", words.size()));
  if (words.front() == "filters")
    return fmt::format("{}\n{}:\n{}\n{}", text_of_paragraph(kFilterRules), kRows,
                       filters(group_text), kFilterExamples);
  const CLI::App* command = command_named(app, words.front());
  if (!command)
    throw UsageError(fmt::format("help: there is no topic '{}'; the topics are {}", words.front(),
                                 all_commands(app)));
  return command->help(app.get_name());
}

std::string help_markdown(const CLI::App& app) {
  std::string text = fmt::format("<!-- generated by kernelgrade --help-markdown -->\n\n"
                                 "# Commands\n\n{}\n\n"
                                 "`kernelgrade help COMMAND` prints the section of a command.\n",
                                 app.get_description());
  std::string group;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group() != group)
      text += fmt::format("\n## {}\n", group = command->get_group());
    const bool own = !command->get_footer().empty();
    const std::string name = fmt::format("{} {}", app.get_name(), command->get_name());
    text += "\n" + (own ? markdown(*command, name, 3)
                        : fmt::format("{}{}\n", kOtherProgram, command->get_name()));
  }
  text += fmt::format("\n## {}\n\n{}\n\n{}", kRows, kFilterRules, filters(group_markdown));
  return text + fmt::format("\n## Options of all commands\n\n{}", group_markdown(app, "Options"));
}

} // namespace kg::cli
