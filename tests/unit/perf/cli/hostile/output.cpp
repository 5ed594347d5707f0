// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf/cli/hostile/output.h"

#include "perf/format/csv.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <vector>

namespace kg::hostile {
namespace {

std::string around(std::string_view text, std::size_t at) {
  const std::size_t from = at < 60 ? 0 : at - 60;
  return nlohmann::json(std::string(text.substr(from, 160)))
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string no_utf8(std::string_view text) {
  try {
    (void)nlohmann::json(std::string(text)).dump();
    return "";
  } catch (const nlohmann::json::exception& error) {
    return fmt::format("no UTF-8: {}", error.what());
  }
}

std::string first_control(std::string_view text) {
  if (std::string fault = no_utf8(text); !fault.empty()) return fault;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
      return fmt::format("control character {:#x} in {}", c, around(text, i));
  }
  for (const std::string_view other : {"\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xae", "\xc2\x9b"})
    if (const std::size_t at = text.find(other); at != text.npos)
      return "a control character in " + around(text, at);
  return "";
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A line that a workflow's runner obeys.
bool is_command(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return (first != line.npos && line.compare(first, 2, "::") == 0) || line.find("##[") != line.npos;
}

// The lines of texts.h that would pass for ours.
bool is_forged_line(const std::string& line) {
  for (const char* begin : {"passed: 999", "FAIL: FORGED", "## Kernelgrade: passed FORGED",
                            "| FORGED | pass |", "## FORGED"})
    if (line.starts_with(begin)) return true;
  return false;
}

std::string without_spans(std::string_view line) {
  std::string rest;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '\\') {
      rest += line.substr(i, 2);
      i += 2;
      continue;
    }
    const std::size_t end = std::min(line.find_first_not_of('`', i), line.size());
    std::size_t close = i == end ? line.npos : line.find(line.substr(i, end - i), end);
    while (close != line.npos && close + (end - i) < line.size() && line[close + (end - i)] == '`')
      close = line.find(line.substr(i, end - i), line.find_first_not_of('`', close));
    if (close == line.npos) {
      rest += line.substr(i, std::max<std::size_t>(1, end - i));
      i = std::max(end, i + 1);
    } else {
      i = close + (end - i);
    }
  }
  return rest;
}

// Without blocks and spans of code, in which nothing is markup.
std::string without_code(std::string_view text) {
  std::string rest, fence;
  for (const std::string& line : lines_of(text)) {
    const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find_first_not_of('`', first), line.size());
    const std::string ticks = line.substr(first, end - first);
    if (fence.empty() && ticks.size() >= 3 && line.find('`', end) == line.npos) {
      fence = ticks;
    } else if (!fence.empty()) {
      if (ticks.size() >= fence.size() && line.find_first_not_of(' ', end) == line.npos)
        fence.clear();
    } else {
      rest += without_spans(line) + "\n";
    }
  }
  if (!fence.empty()) return rest + "<a fence is never closed>";
  return rest;
}

} // namespace

std::string fault_of_console(std::string_view text) {
  if (std::string fault = first_control(text); !fault.empty()) return fault;
  for (const std::string& line : lines_of(text)) {
    if (is_command(line)) return "a workflow command: " + around(line, 0);
    if (is_forged_line(line)) return "a forged line: " + around(line, 0);
    if (line.size() > 30000) return "a line without an end: " + around(line, 0);
  }
  return "";
}

std::string fault_of_markdown(std::string_view text) {
  if (std::string fault = first_control(text); !fault.empty()) return fault;
  const std::string outside = without_code(text);
  for (const std::string& line : lines_of(outside)) {
    if (is_forged_line(line)) return "a forged line: " + around(line, 0);
    if (line.starts_with('#') && line.find("FORGED") != line.npos &&
        line.find("## Kernelgrade: FAILED") != 0 && line.find("### ") != 0)
      return "a forged heading: " + around(line, 0);
    if (line.starts_with("- # ") || line.starts_with("- > "))
      return "a block within an item: " + around(line, 0);
  }
  for (std::size_t at = 0; (at = outside.find_first_of("<@]*~&#:", at)) != outside.npos; ++at) {
    const std::string_view rest = std::string_view(outside).substr(at);
    const bool line_break = rest.starts_with("<br>"), escaped = at > 0 && outside[at - 1] == '\\';
    const bool mention = rest[0] == '@' && rest.size() > 1 && std::isalnum(rest[1]) != 0;
    if ((rest[0] == '<' && !line_break) || mention) return "markup: " + around(outside, at);
    for (const char* mark : {"&#64;", "](", "~~", "#1 FORGED", ":white_check_mark:"})
      if (rest.starts_with(mark) && !escaped) return "markup: " + around(outside, at);
  }
  return "";
}

std::string fault_of_xml(std::string_view text) {
  if (std::string fault = first_control(text); !fault.empty()) return fault;
  static const std::set<std::string_view> kTags = {"testsuites", "testsuite", "testcase",
                                                   "properties", "property",  "failure",
                                                   "skipped",    "?xml"};
  static const std::set<std::string_view> kEntities = {"amp;",  "lt;",  "gt;",
                                                       "quot;", "#39;", "#10;"};
  for (std::size_t at = 0; (at = text.find_first_of("<>&", at)) != text.npos;) {
    const std::string_view rest = text.substr(at + 1);
    if (text[at] == '&') {
      if (!kEntities.contains(rest.substr(0, rest.find(';') + 1)))
        return "an entity: " + around(text, at);
      ++at;
      continue;
    }
    std::string_view name = rest.substr(0, rest.find_first_of(" />\n", rest.starts_with('/')));
    if (name.starts_with('/')) name.remove_prefix(1);
    if (text[at] == '>' || !kTags.contains(name)) return "markup: " + around(text, at);
    const std::size_t end = rest.find_first_of("<>");
    if (end == rest.npos || rest[end] != '>') return "an open tag: " + around(text, at);
    at += end + 2;
  }
  return "";
}

std::string fault_of_csv(std::string_view text) {
  if (std::string fault = first_control(text); !fault.empty()) return fault;
  const judge::Csv csv = judge::read_csv(text, "csv");
  if (!csv.problems.empty()) return judge::text(csv.problems.front());
  for (const judge::CsvRecord& record : csv.records) {
    if (record.fields.size() != csv.records.front().fields.size())
      return fmt::format("line {}: other columns", record.line);
    for (const std::string& field : record.fields)
      if (!field.empty() && std::string_view("=+-@\t\r").find(field.front()) != std::string::npos &&
          !judge::parse_number(field))
        return "a formula: " + around(field, 0);
  }
  return "";
}

std::string fault_of_annotations(std::string_view text) {
  if (std::string fault = first_control(text); !fault.empty()) return fault;
  for (const std::string& line : lines_of(text)) {
    const std::string fault = "no error of ours: " + around(line, 0);
    const std::size_t properties = line.find("::", 2);
    if (line.size() > 20000 || !line.starts_with("::error file=") || properties == line.npos)
      return fault;
    const std::string head = line.substr(2, properties - 2);
    if (std::count(head.begin(), head.end(), ',') != 2 || head.find(':') != head.npos) return fault;
  }
  return "";
}

std::string fault_of_html(std::string_view text) {
  if (std::string fault = no_utf8(text); !fault.empty()) return fault;
  for (const char* mark : {"<!--", "<h1>FORGED", "alert('FORGED')</script>"})
    if (const std::size_t at = text.find(mark); at != text.npos)
      return "markup: " + around(text, at);
  return "";
}

std::string fault_of_file(const std::string& name, std::string_view text) {
  if (name.ends_with(".md")) return fault_of_markdown(text);
  if (name.ends_with(".xml") || name.ends_with(".svg"))
    return name.ends_with(".svg") ? first_control(text) : fault_of_xml(text);
  if (name.ends_with(".csv")) return fault_of_csv(text);
  if (name.ends_with(".html")) return fault_of_html(text);
  if (name.ends_with(".json")) return nlohmann::json::accept(text) ? no_utf8(text) : "no JSON";
  if (name == "annotations.txt") return fault_of_annotations(text);
  return "an unknown file " + name;
}

} // namespace kg::hostile
