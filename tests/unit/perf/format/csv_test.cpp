// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/format/csv.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kg::judge {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> records_of(const std::string& contents) {
  const Csv csv = read_csv(contents, "f.csv");
  EXPECT_TRUE(csv.problems.empty()) << text(csv.problems);
  std::vector<Fields> records;
  for (const CsvRecord& record : csv.records) records.push_back(record.fields);
  return records;
}

std::string problems_of(const std::string& contents) {
  return text(read_csv(contents, "f.csv").problems);
}

TEST(Csv, RefusesAtOnceWhatIsTooLarge) {
  const auto many = [](const std::string& piece, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += piece;
    return text;
  };
  EXPECT_EQ(problems_of(many("a,", 1'000'000)),
            "f.csv:1: more than 1000 fields in a line; name a file that holds less\n");
  EXPECT_EQ(problems_of(many("a,b\n", 300'000)),
            "f.csv:50001: more than 50000 lines; name a file that holds less\n");
  EXPECT_EQ(problems_of(many("a\"b\n", 300'000)),
            "f.csv:50001: more than 50000 lines; name a file that holds less\n");
  EXPECT_TRUE(read_csv(many("a\n", 300'000), "f.csv").records.empty());
  EXPECT_EQ(records_of(many("a,", 999)).front().size(), 1000u);
}

TEST(Csv, PlainRecords) {
  EXPECT_EQ(records_of("a,b\n1,2\n"), (std::vector<Fields>{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(records_of("a,b\n1,2"), (std::vector<Fields>{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(records_of("a,b\r\n,\r\n"), (std::vector<Fields>{{"a", "b"}, {"", ""}}));
  EXPECT_EQ(records_of("a,"), (std::vector<Fields>{{"a", ""}}));
}

TEST(Csv, QuotedFields) {
  EXPECT_EQ(records_of("\"a,b\",\"say \"\"x\"\"\",\"\"\n"),
            (std::vector<Fields>{{"a,b", "say \"x\"", ""}}));
  EXPECT_EQ(records_of("\"two\nlines\",\"and\r\nmore\"\r\nz,z\r\n"),
            (std::vector<Fields>{{"two\nlines", "and\r\nmore"}, {"z", "z"}}));
}

TEST(Csv, RecordsKnowTheirFirstLine) {
  const Csv csv = read_csv("a\n\"b\nb\nb\"\nc\n", "f.csv");
  ASSERT_EQ(csv.records.size(), 3u);
  EXPECT_EQ(csv.records[1].line, 2u);
  EXPECT_EQ(csv.records[2].line, 5u);
}

TEST(Csv, MalformedInput) {
  EXPECT_EQ(problems_of(""),
            "f.csv:1: the file is empty; restore it, or delete it and bless anew\n");
  EXPECT_EQ(
      problems_of("\xEF\xBB\xBF"
                  "a,b\n"),
      "f.csv:1: the file begins with a UTF-8 byte order mark; save it as UTF-8 without one\n");
  EXPECT_EQ(problems_of("a\n\"b\nc\n"),
            "f.csv:2: a quoted field is never closed; add the missing quote\n");
  EXPECT_EQ(problems_of("a\nb\"c\n"),
            "f.csv:2: a quote inside the unquoted field 'b\"c'; quote the "
            "whole field and double the quotes in it\n");
  EXPECT_EQ(problems_of("a\n\"b\"c,d\n"), "f.csv:2: text after the closing quote of \"b\"; double "
                                          "the quotes that belong to the field\n");
  EXPECT_EQ(problems_of("a\rb\n"), "f.csv:1: a bare carriage return or NUL inside an unquoted "
                                   "field; end lines with LF or CRLF and remove the character\n");
}

TEST(Csv, GoesOnBehindAProblem) {
  const Csv csv = read_csv("h,h\n\"b\"c,d\ngood,row\nx\"y,z\nlast,row\n", "f.csv");
  ASSERT_EQ(csv.problems.size(), 2u);
  EXPECT_EQ(csv.problems[0].line, 2u);
  EXPECT_EQ(csv.problems[1].line, 4u);
  ASSERT_EQ(csv.records.size(), 3u);
  EXPECT_EQ(csv.records[1].fields, (Fields{"good", "row"}));
  EXPECT_EQ(csv.records[2].fields, (Fields{"last", "row"}));
}

TEST(Csv, WhatIsWrittenIsReadBack) {
  const Fields fields = {"plain", "with,comma", "with \"quotes\"", "two\nlines", "cr\r", "", " "};
  EXPECT_EQ(csv_record(fields),
            "plain,\"with,comma\",\"with \"\"quotes\"\"\",\"two\nlines\",\"cr\r\",, \n");
  EXPECT_EQ(records_of(csv_record(fields)), std::vector<Fields>{fields});
}

TEST(Csv, NumbersHaveSixDigits) {
  EXPECT_EQ(csv_number(123456.7), "123457");
  EXPECT_EQ(csv_number(1234567), "1.23457e+06");
  EXPECT_EQ(csv_number(0), "0");
  EXPECT_EQ(csv_number(0.1), "0.1");
}

TEST(Csv, ParsesWholeFiniteNumbersOnly) {
  EXPECT_EQ(parse_number("1.5"), 1.5);
  EXPECT_EQ(parse_number("-2e3"), -2000);
  for (const char* bad :
       {"", " 1", "1 ", "+1", "nan", "inf", "-inf", "1e999", "0x10", "1,5", "1.5ns"})
    EXPECT_EQ(parse_number(bad), std::nullopt) << bad;
}

} // namespace
} // namespace kg::judge
