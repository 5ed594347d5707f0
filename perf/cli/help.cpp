// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/help.h"

#include "perf/cli/row_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <sstream>

namespace kg::cli {
namespace {

constexpr std::size_t kHelpWidth = 100, kHelpColumn = 28;

// The text behind what stands at the left, in the column of descriptions.
std::string help_entry(std::string line, const std::string& text) {
  std::string result;
  if (line.size() + 2 > kHelpColumn && !text.empty()) {
    result = line + "\n";
    line.clear();
  }
  std::istringstream words(text);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && line.size() + 1 + word.size() > kHelpWidth) {
      result += line + "\n";
      line.clear();
      first = true;
    }
    if (first) line.resize(std::max(line.size(), kHelpColumn), ' ');
    line += (first ? "" : " ") + word;
  }
  return result + line + "\n";
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at; (at = text.find("\n\n\n")) != text.npos;) text.erase(at, 1);
    return text;
  }
  std::string make_option(const CLI::Option* option, bool positional) const override {
    return help_entry("  " + make_option_name(option, positional) + make_option_opts(option),
                      option->get_description());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return help_entry("  " + command->get_name(), command->get_description());
  }
  // What excludes what is said where somebody gives both.
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    std::string text = " " + option->get_type_name();
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    return text + (option->get_required() ? " REQUIRED" : "");
  }
  std::string make_group(std::string group, bool positional,
                         std::vector<const CLI::Option*> options) const override {
    if (group != kRows) return CLI::Formatter::make_group(group, positional, options);
    std::vector<std::string> names;
    for (const CLI::Option* option : options) names.push_back(option->get_name());
    return fmt::format(
        "\n{}:\n{}", group,
        help_entry("  options of all commands",
                   fmt::format("{}; kernelgrade --help describes them", fmt::join(names, ", "))));
  }
};

// For the help of the whole: what stands in the place of a command's line above.
std::string rows_described() {
  CLI::App rows;
  FilterWords words;
  add_filter(rows, words);
  const HelpFormatter formatter;
  std::string text = "Which rows, of commands that choose some:\n";
  for (const CLI::Option* option :
       rows.get_options([](const CLI::Option* each) { return each->get_group() == kRows; }))
    text += formatter.make_option(option, false);
  return text + help_entry("  --batch FILE", "a file of such options, one set of rows per line");
}

struct Described {
  const char* group;
  const char* examples; // a line each
};

constexpr const char* kYours = "Kernels of your own";
constexpr const char* kTest = "Measure and gate";
constexpr const char* kWhy = "Find out why";
constexpr const char* kStored = "Stored results";
constexpr const char* kLab = "Studies";
constexpr const char* kFurther = "Further commands"; // which nobody has described below

const std::map<std::string, Described>& descriptions() {
  static const std::map<std::string, Described> kAll = {
      {"check",
       {kYours,
        "  kernelgrade check my_program.cu\n"
        "  kernelgrade check main.cu kernels.cu -I include --sarif findings.sarif -- 1000\n"}},
      {"try",
       {kYours, "  kernelgrade try softmax my_softmax.cu --dtype f32\n"
                "  kernelgrade try softmax --signature >my_softmax.cu\n"}},
      {"emulate", {kYours, "  kernelgrade emulate --checked -- ./program argument\n"}},
      {"list", {kTest, "  kernelgrade list --op gemm,softmax --dtype f32\n"}},
      {"run",
       {kTest, "  kernelgrade run --op softmax --shape rows1000_cols777\n"
               "  kernelgrade run --op gemm --dtype f32 --json gemm.json\n"}},
      {"gate", {kTest, "  kernelgrade gate --op softmax --confirm auto\n"}},
      {"bless", {kTest, "  kernelgrade bless --op softmax --why 'one pass less'\n"}},
      {"ab", {kTest, "  kernelgrade ab --op softmax --base main\n"}},
      {"resources", {kTest, "  kernelgrade resources --op softmax,gemm\n"}},
      {"profile",
       {kWhy, "  kernelgrade profile --cost --op transpose\n"
              "  kernelgrade profile --op softmax --dtype f32\n"}},
      {"doctor", {kWhy, ""}},
      {"ceilings", {kWhy, ""}},
      {"compare", {kStored, "  kernelgrade compare before.json after.json\n"}},
      {"report", {kStored, "  kernelgrade report run.json --out report\n"}},
      {"merge", {kStored, "  kernelgrade merge a.json b.json --json all.json\n"}},
      {"history", {kStored, "  kernelgrade history show --case softmax\n"}},
      {"choose", {kStored, "  kernelgrade choose run.json --op softmax\n"}},
      {"study", {kLab, ""}},
      {"peers", {kLab, "  kernelgrade peers --op softmax --peer torch,jax\n"}},
      {"model", {kLab, "  kernelgrade model run resnet --help\n"}},
      {"selftest", {kLab, "  kernelgrade selftest aa inject=3,5,10 --op softmax\n"}},
  };
  return kAll;
}

} // namespace

void describe(CLI::App& app) {
  const auto formatter = std::make_shared<HelpFormatter>();
  app.formatter(formatter);
  app.footer(rows_described() + "\nExamples:\n"
                                "  kernelgrade run --op softmax --dtype f32\n"
                                "  kernelgrade profile --cost --op transpose\n"
                                "  kernelgrade try softmax my_softmax.cu\n\n"
                                "kernelgrade COMMAND --help describes a command.");
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    command->formatter(formatter);
    for (CLI::App* part : command->get_subcommands(nullptr)) part->formatter(formatter);
    const auto found = descriptions().find(command->get_name());
    command->group(found == descriptions().end() ? kFurther : found->second.group);
    if (found != descriptions().end() && *found->second.examples != '\0')
      command->footer(fmt::format("Examples:\n{}", found->second.examples));
  }
}

} // namespace kg::cli
