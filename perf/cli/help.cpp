// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/help.h"

#include "perf/cli/common_options.h"
#include "perf/cli/row_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <span>

namespace kg::cli {
namespace {

struct Described {
  const char* group;
  const char* examples;        // a line each; empty for separate programs
  const char* guide;           // page with instructions
  const char* exit_codes = ""; // if different from the general ones
};

constexpr const char* kYours = "Kernels of your own";
constexpr const char* kTest = "Measure and gate";
constexpr const char* kWhy = "Find out why";
constexpr const char* kStored = "Stored results";
constexpr const char* kLab = "Studies";
constexpr const char* kFurther = "Further commands"; // those not described below

const std::map<std::string, Described>& descriptions() {
  static const std::map<std::string, Described> kAll = {
      {"try",
       {kYours,
        "  kernelgrade try softmax my_softmax.cu --dtype f32\n"
        "  kernelgrade try softmax --signature > my_softmax.cu\n",
        "docs/how-to/judge_a_kernel.md"}},
      {"check", {kYours, "", ""}}, // a separate program, like model
      {"emulate",
       {kYours,
        "  kernelgrade emulate --checked -- ./program argument\n"
        "  kernelgrade emulate --counts counts.json -- ./program argument\n",
        "docs/how-to/emulate.md"}},
      {"list",
       {kTest,
        "  kernelgrade list --op gemm,softmax --dtype f32\n"
        "  kernelgrade list --models\n",
        "docs/reference/operations.md"}},
      {"run",
       {kTest,
        "  kernelgrade run --op softmax --shape rows1000_cols777\n"
        "  kernelgrade run --op gemm --dtype f32 --json gemm.json\n",
        "docs/how-to/measure_on_a_gpu.md"}},
      {"gate",
       {kTest,
        "  kernelgrade gate --op softmax --confirm auto\n"
        "  kernelgrade gate --cost --op softmax,gemm\n",
        "docs/how-to/gate_in_ci.md"}},
      {"bless",
       {kTest,
        "  kernelgrade bless --op softmax --why 'one pass less'\n"
        "  kernelgrade bless --cost --op transpose --why 'tiles of 64 x 64'\n",
        "docs/how-to/approve_a_change.md"}},
      {"ab",
       {kTest,
        "  kernelgrade ab --op softmax --base main\n"
        "  kernelgrade ab --op gemm --dtype bf16 --base HEAD~1 --pairs 20\n",
        "docs/explanation/timing_gate.md"}},
      {"resources",
       {kTest,
        "  kernelgrade resources --op softmax,gemm\n"
        "  kernelgrade resources --op gemm --bless --why 'a deeper pipeline'\n",
        "docs/reference/metrics.md"}},
      {"profile",
       {kWhy,
        "  kernelgrade profile --cost --op transpose\n"
        "  kernelgrade profile --sass --op softmax --dtype f32\n"
        "  kernelgrade profile --enqueue --op gemm\n",
        "docs/how-to/find_the_bottleneck.md"}},
      {"doctor",
       {kWhy,
        "  kernelgrade doctor\n"
        "  kernelgrade doctor --device nvidia-h200\n",
        "docs/how-to/measure_on_a_gpu.md"}},
      {"ceilings",
       {kWhy,
        "  kernelgrade ceilings\n"
        "  kernelgrade ceilings --write\n",
        "docs/how-to/read_the_report.md"}},
      {"compare",
       {kStored,
        "  kernelgrade compare before.json after.json\n"
        "  kernelgrade compare h100.json h200.json --across-devices --markdown\n",
        "docs/reference/file_formats.md"}},
      {"report",
       {kStored,
        "  kernelgrade report run.json --out report\n"
        "  kernelgrade report shard1.json shard2.json --history history.sqlite\n",
        "docs/how-to/read_the_report.md"}},
      {"merge",
       {kStored,
        "  kernelgrade merge 1.json 2.json --json all.json\n"
        "  kernelgrade merge shards/1.json shards/2.json --json study.json\n",
        "docs/how-to/gate_in_ci.md"}},
      {"history",
       {kStored,
        "  kernelgrade history show --case softmax\n"
        "  kernelgrade history import report/runs/20260101T000000Z/report.json\n",
        "docs/how-to/read_the_report.md"}},
      {"choose",
       {kStored,
        "  kernelgrade choose run.json --op gemm\n"
        "  kernelgrade choose run.json --op gemm --mode hot --out choices.inc\n",
        "docs/how-to/run_a_study.md"}},
      {"study",
       {kLab,
        "  kernelgrade study matmul --max-size 1024\n"
        "  kernelgrade study matmul --max-size 1024 --resume\n"
        "  kernelgrade report report/studies/matmul.jsonl\n",
        "docs/how-to/run_a_study.md",
        "Exit code 0: passed. Exit code 1: a wrong result, or an exponent outside its tolerance. "
        "Exit code 2: usage error. Exit code 77: nothing was measured."}},
      {"peers",
       {kLab,
        "  kernelgrade peers --op softmax --peer torch,jax\n"
        "  kernelgrade peers --op gemm --dtype bf16 --peer torch --json gemm.json\n",
        "docs/how-to/compare_frameworks.md"}},
      {"model", {kLab, "", ""}},
      {"selftest",
       {kLab,
        "  kernelgrade selftest aa inject=3,5,10 --op softmax\n"
        "  kernelgrade selftest --table calibration.csv\n",
        "docs/explanation/timing_gate.md"}},
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
constexpr const char* kFilterRules[] = {
    "A row is measured if it matches one word of each option that is given. A list has commas and "
    "no spaces.",
    "The words of a shape stand in the order of the listed ones. Unknown and repeated words are "
    "refused.",
    "A model's layer has the shapes of its `config.json`, for prefill and decode. --dtype replaces "
    "the model's type. On a CPU the sequence is short, and large GEMMs run in libraries only."};

constexpr const char* kMarkdownTop = "<!-- generated by kernelgrade --help-markdown -->\n\n"
                                     "# Commands\n";
constexpr const char* kManTop = ".\\\" generated by kernelgrade --help-man\n"
                                ".TH KERNELGRADE 1 {} \"Kernelgrade {}\"\n"
                                ".SH NAME\nkernelgrade \\- test, measure and gate CUDA kernels\n"
                                ".SH SYNOPSIS\n.B kernelgrade\nCOMMAND [OPTIONS]\n";
constexpr const char* kFrontDoor =
    "In a clone, `./grade COMMAND` builds what a command needs and runs it, and `./grade --help` "
    "describes `./grade`. `kernelgrade help COMMAND` prints the section of a command.";

// Of an app that has only the row filters.
template <typename Write>
std::string filters(Write&& write) {
  CLI::App app;
  Words words;
  add_rows(app, words);
  return write(app);
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
    const Described& described = found->second;
    const std::string exit_codes = text_of_paragraph(described.exit_codes);
    command->footer(fmt::format("Examples:\n{}\n{}{}Guide: {}\n", described.examples, exit_codes,
                                exit_codes.empty() ? "" : "\n", described.guide));
  }
  format_help(app);
}

std::string help_text(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return app.help();
  if (words.size() > 1)
    throw UsageError(fmt::format("help: expected one word, got {}", words.size()));
  if (words.front() == "filters") {
    std::string rules;
    for (const char* const rule : kFilterRules) rules += text_of_paragraph(rule) + "\n";
    return fmt::format("{}{}:\n{}\n{}", rules, kRows,
                       filters([](const CLI::App& rows) { return group_text(rows, kRows); }),
                       kFilterExamples);
  }
  const CLI::App* command = command_named(app, words.front());
  if (!command)
    throw UsageError(fmt::format("help: unknown topic '{}'; the topics are {}", words.front(),
                                 all_commands(app)));
  return command->help(app.get_name());
}

std::string help_page(const CLI::App& app, Page page) {
  const bool markdown = page == Page::markdown;
  std::string text =
      markdown ? kMarkdownTop : fmt::format(kManTop, KERNELGRADE_RELEASED, KERNELGRADE_VERSION);
  text += markdown ? paragraph(page, app.get_description())
                   : heading(page, 1, "Description", app.get_description());
  text += paragraph(page, kFrontDoor);
  std::string last;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group() != last) text += heading(page, 1, last = command->get_group());
    const bool own = !command->get_footer().empty();
    text += own ? section(page, *command, app.get_name() + " " + command->get_name(), 2)
                : fmt::format("{}{}\n", kOtherProgram, command->get_name());
  }
  text += heading(page, 1, kRows, kFilterRules[0]);
  for (const char* const rule : std::span(kFilterRules).subspan(1)) text += paragraph(page, rule);
  text += filters([&](const CLI::App& rows) { return group(page, rows, kRows); });
  return text + heading(page, 1, "Options of all commands") + group(page, app, "Options");
}

} // namespace kg::cli
