// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CSV as RFC 4180 has it: quoted fields, doubled quotes, line breaks inside quotes, CRLF or LF
// between records. The reader is strict, remembers the line of each record, and reports every
// problem of a file, not only the first. What the fields mean is schema.h's business.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kg::judge {

// Something wrong with a file. Line 0 means the file as a whole.
struct Problem {
  std::string file;
  std::size_t line = 0;
  std::string what;
  std::string fix;

  friend bool operator==(const Problem&, const Problem&) = default;
};

// "<file>:<line>: <what is wrong>; <what to do>"
std::string text(const Problem& problem);

// All problems, one per line.
std::string text(std::span<const Problem> problems);

struct CsvRecord {
  std::size_t line = 0; // its first, counted from 1
  std::vector<std::string> fields;
};

struct Csv {
  std::vector<CsvRecord> records; // the first is the header
  std::vector<Problem> problems;
};

// Splits the contents of `file`. Records with a problem are left out of `records`.
Csv read_csv(std::string_view contents, const std::string& file);

// One record, ended by a line feed; fields are quoted where they must be.
std::string csv_record(std::span<const std::string> fields);

// "%.6g": six digits are finer than any timing is repeatable, and keep diffs short.
std::string csv_number(double value);

// A decimal number that is the whole of `field` and finite: no blanks, no sign but '-', no "nan",
// no "inf".
std::optional<double> parse_number(std::string_view field);

} // namespace kg::judge
