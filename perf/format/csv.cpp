// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/format/csv.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace kg::judge {
namespace {

// Kernelgrade's tables have less than a tenth of these. Larger files are refused at once, since
// each of a million columns or rows would get its own message.
constexpr std::size_t kMostFields = 1'000;
constexpr std::size_t kMostRecords = 50'000;

// Passes over the characters once. Skips a record with a problem to its end, so that the next
// record is parsed normally.
class Reader {
 public:
  Reader(std::string_view contents, const std::string& file) : rest_(contents), file_(file) {}

  Csv read() {
    if (rest_.starts_with("\xEF\xBB\xBF")) {
      report("the file begins with a UTF-8 byte order mark", "save it as UTF-8 without one");
      rest_.remove_prefix(3);
    }
    if (rest_.empty()) report("the file is empty", "restore it, or delete it and bless anew");
    while (!rest_.empty()) read_record();
    if (refused_) csv_.records.clear();
    return std::move(csv_);
  }

 private:
  void report(std::string what, std::string fix) {
    csv_.problems.push_back({file_, line_, std::move(what), std::move(fix)});
    sound_ = false;
  }

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\n') ++line_;
    return c;
  }

  // Ignores the rest of the file and drops all records.
  void refuse(std::string_view what, std::size_t most) {
    csv_.problems.clear();
    report(fmt::format("more than {} {}", most, what), "name a file that holds less");
    rest_ = {};
    refused_ = true;
  }

  // Consumes a line feed, optionally preceded by a carriage return, if it is next.
  bool take_line_end() {
    if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
    if (!rest_.starts_with('\n')) return false;
    take();
    return true;
  }

  void read_record() {
    if (csv_.records.size() + csv_.problems.size() >= kMostRecords)
      return refuse("lines", kMostRecords);
    CsvRecord record{line_, {}};
    sound_ = true;
    bool more = true;
    while (more) {
      record.fields.push_back(rest_.starts_with('"') ? read_quoted() : read_bare());
      if (record.fields.size() > kMostFields) return refuse("fields in a line", kMostFields);
      more = rest_.starts_with(',');
      if (more) take();
    }
    if (!rest_.empty() && !take_line_end()) { // only after a malformed quoted field
      while (!rest_.empty() && rest_.front() != '\n') take();
      take_line_end();
    }
    if (sound_) csv_.records.push_back(std::move(record));
  }

  std::string read_bare() {
    std::string field;
    bool quote = false, control = false;
    while (!rest_.empty() && rest_.front() != ',' && rest_.front() != '\n' &&
           !rest_.starts_with("\r\n")) {
      const char c = take();
      quote = quote || c == '"';
      control = control || c == '\r' || c == '\0';
      field += c;
    }
    if (quote)
      report(fmt::format("a quote inside the unquoted field '{}'", field),
             "quote the whole field and double the quotes in it");
    if (control)
      report("a bare carriage return or NUL inside an unquoted field",
             "end lines with LF or CRLF and remove the character");
    return field;
  }

  std::string read_quoted() {
    const std::size_t first_line = line_;
    std::string field;
    take();
    for (;;) {
      if (rest_.empty()) {
        line_ = first_line;
        report("a quoted field is never closed", "add the missing quote");
        return field;
      }
      const char c = take();
      if (c != '"') {
        field += c;
      } else if (rest_.starts_with('"')) {
        field += take();
      } else {
        break;
      }
    }
    if (!rest_.empty() && rest_.front() != ',' && rest_.front() != '\n' &&
        !rest_.starts_with("\r\n"))
      report(fmt::format("text after the closing quote of \"{}\"", field),
             "double the quotes that belong to the field");
    return field;
  }

  std::string_view rest_;
  std::string file_;
  std::size_t line_ = 1;
  bool sound_ = true;
  bool refused_ = false;
  Csv csv_;
};

} // namespace

std::string text(const Problem& problem) {
  return fmt::format("{}:{}: {}; {}", problem.file, problem.line, problem.what, problem.fix);
}

std::string text(std::span<const Problem> problems) {
  std::string lines;
  for (const Problem& problem : problems) lines += text(problem) + '\n';
  return lines;
}

Csv read_csv(std::string_view contents, const std::string& file) {
  return Reader(contents, file).read();
}

std::string csv_record(std::span<const std::string> fields) {
  std::string record;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) record += ',';
    if (field.find_first_of(",\"\r\n") == field.npos) {
      record += field;
      continue;
    }
    record += '"';
    for (const char c : field) record.append(c == '"' ? 2 : 1, c);
    record += '"';
  }
  return record + '\n';
}

std::string csv_number(double value) { return fmt::format("{:.6g}", value); }

std::optional<double> parse_number(std::string_view field) {
  double value = 0;
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

} // namespace kg::judge
