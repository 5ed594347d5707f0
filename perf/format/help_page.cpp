// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/format/help_page.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <regex>
#include <sstream>
#include <vector>

namespace kg::cli {
namespace {

constexpr std::size_t kWidth = 100, kColumn = 28;

struct Entry {
  std::string name, meaning;
};

struct Section {
  std::string title;
  std::vector<Entry> entries;
};

// `line`, followed by `text` in lines that begin at `column`.
std::string wrapped(std::string line, const std::string& text, std::size_t column) {
  std::string result;
  if (line.size() + 2 > column && column > 0 && !text.empty()) {
    result = line + "\n";
    line.clear();
  }
  std::istringstream words(text);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && line.size() + 1 + word.size() > kWidth) {
      result += line + "\n";
      line.clear();
      first = true;
    }
    if (first) line.resize(std::max(line.size(), column), ' ');
    line += (first ? "" : " ") + word;
  }
  return result + line + "\n";
}

// The text after an option's name, and the range that its validator allows. CLI11 combines both in
// the name of the type: "INT:INT in [1 - 100]", "TEXT:{auto,never}" or "ENUM:value in
// {nhwc->0,nchw->1} OR {0,1}".
struct Value {
  std::string name, range;
};

Value value_of(const CLI::Option& option) {
  const std::string type = option.get_type_size() == 0 ? "" : option.get_type_name();
  static const std::regex kRange(R"((?:.*:)?\w+ in \[(.*) - (.*)\])"),
      kChoice(R"(.*\{([^{}>]*)\})"), kNamed(R"((\w+)->)"), kKind(R"((INT|UINT|FLOAT)(:.*)?)");
  std::smatch found;
  if (type.find("->") != type.npos) {
    std::vector<std::string> names;
    const std::string first = type.substr(0, type.find('}'));
    for (std::sregex_iterator at(first.begin(), first.end(), kNamed), end; at != end; ++at)
      names.push_back((*at)[1]);
    return {fmt::format("{}", fmt::join(names, "|")), ""};
  }
  if (std::regex_match(type, found, kRange))
    return {"N", fmt::format("{} to {}", found[1].str(), found[2].str())};
  if (std::regex_match(type, found, kChoice)) {
    std::string names = found[1];
    std::replace(names.begin(), names.end(), ',', '|');
    return {names, ""};
  }
  if (std::regex_match(type, kKind)) return {"N", ""};
  if (option.get_delimiter() == ',') return {type + ",...", ""};
  const std::size_t colon = type.find(':');
  return {colon == type.npos ? type : type.substr(colon + 1), ""};
}

Entry entry_of(const CLI::Option& option) {
  const Value value = value_of(option);
  Entry entry{option.get_name(option.get_positional(), !option.get_positional()),
              option.get_description()};
  if (!option.get_positional() && !value.name.empty()) entry.name += " " + value.name;
  std::vector<std::string> notes;
  if (option.get_required()) notes.emplace_back("required");
  if (!value.range.empty()) notes.push_back(value.range);
  if (!option.get_default_str().empty() && entry.meaning.find("default") == entry.meaning.npos)
    notes.push_back("default: " + option.get_default_str());
  if (!notes.empty()) entry.meaning += fmt::format(" ({})", fmt::join(notes, "; "));
  return entry;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app, const std::string& group,
                                           bool positional) {
  return app.get_options([&](const CLI::Option* option) {
    return option->get_group() == group && option->get_positional() == positional;
  });
}

Section section_of(const std::string& title, const std::vector<const CLI::Option*>& options) {
  Section section{title, {}};
  for (const CLI::Option* option : options) section.entries.push_back(entry_of(*option));
  return section;
}

// Arguments, then options by group.
std::vector<Section> option_sections(const CLI::App& app) {
  std::vector<Section> sections;
  sections.push_back(section_of("Arguments", options_of(app, "Options", true)));
  for (const std::string& group : app.get_groups()) {
    const std::vector<const CLI::Option*> options = options_of(app, group, false);
    if (group.empty()) continue; // for internal use
    if (group != kRows) {
      sections.push_back(section_of(group, options));
      continue;
    }
    std::vector<std::string> names;
    for (const CLI::Option* option : options) names.push_back(option->get_name());
    sections.push_back({group, {{fmt::format("{}", fmt::join(names, ", ")), ""}}});
  }
  std::erase_if(sections, [](const Section& section) { return section.entries.empty(); });
  return sections;
}

std::vector<Section> command_sections(const CLI::App& app) {
  std::vector<Section> sections;
  for (const CLI::App* command : app.get_subcommands({})) {
    const auto same = [&](const Section& section) { return section.title == command->get_group(); };
    auto at = std::find_if(sections.begin(), sections.end(), same);
    if (at == sections.end()) at = sections.insert(at, {command->get_group(), {}});
    at->entries.push_back({command->get_name(), command->get_description()});
  }
  return sections;
}

std::string usage_of(const CLI::App& app, const std::string& name) {
  std::string usage = name;
  if (!app.get_options([](const CLI::Option* each) { return each->nonpositional(); }).empty())
    usage += " [OPTIONS]";
  for (const CLI::Option* option : options_of(app, "Options", true)) {
    const std::string word =
        option->get_name(true, false) + (option->get_items_expected_max() > 1 ? "..." : "");
    usage += option->get_required() ? " " + word : " [" + word + "]";
  }
  return usage + (app.get_subcommands({}).empty() ? "" : " COMMAND");
}

class Text : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::string text =
        wrapped("", app->get_description(), 0) + "\nUsage: " + usage_of(*app, name) + "\n";
    for (const std::vector<Section>& sections : {option_sections(*app), command_sections(*app)})
      for (const Section& section : sections) {
        text += "\n" + section.title + ":\n";
        for (const Entry& entry : section.entries)
          text += section.title == kRows
                      ? wrapped("", entry.name + "; kernelgrade help filters describes them", 2)
                      : wrapped("  " + entry.name, entry.meaning, kColumn);
      }
    return text + (app->get_footer().empty() ? "" : "\n" + app->get_footer());
  }
};

// Escapes each `special` with a backslash.
std::string escaped(const std::string& text, char special) {
  std::string result;
  for (const char each : text)
    result += each == special ? std::string{'\\', each} : std::string{each};
  return result;
}

// Manual pages distinguish the minus sign of options from a hyphen, and a line must not begin with
// a period.
std::string for_man(std::string text) {
  std::erase(text, '`');
  text = escaped(text, '-');
  return text.starts_with('.') || text.starts_with('\'') ? "\\&" + text : text;
}

// Makes a sentence of a description, which begins in lower case and has no full stop.
std::string sentence(std::string text) {
  if (text.empty()) return text;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + (text.back() == '.' ? "" : ".");
}

std::string entries_of(Page page, const Section& section) {
  std::string text;
  if (page == Page::markdown)
    text = fmt::format("\n| {} | meaning |\n|---|---|\n",
                       section.title == "Arguments" ? "argument" : "option");
  for (const Entry& entry : section.entries) {
    if (entry.name == "-h,--help") continue;
    text +=
        page == Page::markdown
            ? fmt::format("| `{}` | {} |\n", escaped(entry.name, '|'), escaped(entry.meaning, '|'))
            : fmt::format(".TP\n.B {}\n{}\n", for_man(entry.name), for_man(entry.meaning));
  }
  return text;
}

// Converts examples to a list, and the guide to a link.
std::string markdown_footer(const std::string& footer) {
  static const std::string kGuide = "Guide: docs/";
  std::istringstream lines(footer);
  std::string text = "\n";
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  "))
      text += fmt::format("- `{}`\n", line.substr(2));
    else if (line.starts_with(kGuide))
      text += fmt::format("Guide: [{0}](../{0})\n", line.substr(kGuide.size()));
    else
      text += line + (line.ends_with(':') ? "\n\n" : "\n");
  return text;
}

// Keeps the lines of examples. Other lines form paragraphs between empty lines and examples.
std::string man_footer(const std::string& footer) {
  std::istringstream lines(footer);
  std::string text;
  bool begins = true, block = false;
  for (std::string line; std::getline(lines, line);) {
    const bool example = line.starts_with("  ");
    if (example && !block) text += ".PP\n.nf\n";
    if (!example && block) text += ".fi\n";
    if (!example && !line.empty() && (begins || block)) text += ".PP\n";
    if (!line.empty()) text += for_man(line) + "\n";
    begins = line.empty();
    block = example;
  }
  return text + (block ? ".fi\n" : "");
}

void set_formatter(CLI::App& app, const std::shared_ptr<Text>& formatter) {
  app.formatter(formatter);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    set_formatter(*command, formatter);
}

} // namespace

void format_help(CLI::App& app) { set_formatter(app, std::make_shared<Text>()); }

std::string text_of_paragraph(const std::string& text) {
  return text.empty() ? "" : wrapped("", text, 0);
}

std::string group_text(const CLI::App& app, const std::string& group) {
  std::string text;
  for (const Entry& entry : section_of(group, options_of(app, group, false)).entries)
    text += wrapped("  " + entry.name, entry.meaning, kColumn);
  return text;
}

std::optional<Page> page_asked_for(const std::vector<std::string>& words) {
  if (words == std::vector<std::string>{"--help-markdown"}) return Page::markdown;
  if (words == std::vector<std::string>{"--help-man"}) return Page::man;
  return {};
}

std::string heading(Page page, int level, const std::string& text, const std::string& first) {
  if (page == Page::markdown)
    return fmt::format("\n{} {}\n", std::string(static_cast<std::size_t>(level) + 1, '#'), text) +
           (first.empty() ? "" : paragraph(page, first));
  std::string upper = text;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char each) { return static_cast<char>(std::toupper(each)); });
  return fmt::format("{} {}\n{}", level == 1 ? ".SH" : ".SS", for_man(level == 1 ? upper : text),
                     first.empty() ? "" : for_man(first) + "\n");
}

std::string paragraph(Page page, const std::string& text) {
  return page == Page::markdown ? "\n" + text + "\n" : ".PP\n" + for_man(text) + "\n";
}

std::string group(Page page, const CLI::App& app, const std::string& name) {
  return entries_of(page, section_of(name, options_of(app, name, false)));
}

std::string section(Page page, const CLI::App& app, const std::string& name, int level) {
  std::string text = heading(page, level, name, sentence(app.get_description())) +
                     paragraph(page, fmt::format("Usage: `{}`", usage_of(app, name)));
  for (const Section& part : option_sections(app))
    if (part.title == kRows)
      text += paragraph(page, page == Page::markdown
                                  ? "It takes the [row filters](#row-filters)."
                                  : "It takes the row filters, which a section below describes.");
    else if (part.entries.size() > 1 || part.entries.front().name != "-h,--help")
      text += entries_of(page, part);
  if (!app.get_footer().empty())
    text +=
        page == Page::markdown ? markdown_footer(app.get_footer()) : man_footer(app.get_footer());
  for (const CLI::App* command : app.get_subcommands({}))
    text += section(page, *command, name + " " + command->get_name(), level + 1);
  return text;
}

} // namespace kg::cli
