// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/format/schema.h"

#include "runtime/error.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kg::judge {
namespace {

using Fields = std::vector<std::string>;

// A kind of table that does not exist: declaring its columns is all that it takes.
const Schema kSchema = {"cost",
                        3,
                        {{"case", an_id, true},
                         {"metric", an_id, true},
                         {"value", a_number_from_zero},
                         {"why", any_text}}};

const std::string kHeader = "schema,case,metric,value,why\n";

std::string problems_of(const std::string& contents) {
  return text(read_table(kSchema, contents, "cost.csv").problems);
}

TEST(Schema, ReadsRowsInTheSchemasOrder) {
  const Table table = read_table(kSchema, "why,value,schema,metric,case\nx,1,3,m,c\n", "cost.csv");
  EXPECT_TRUE(table.problems.empty()) << text(table.problems);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].fields, (Fields{"c", "m", "1", "x"}));
  EXPECT_EQ(table.rows[0].line, 2u);
}

TEST(Schema, WritesSortedRows) {
  EXPECT_EQ(
      write_table(kSchema, {{"b", "m", "2", "x,y"}, {"a", "n", "1", ""}, {"a", "m", "0", ""}}),
      kHeader + "3,a,m,0,\n3,a,n,1,\n3,b,m,2,\"x,y\"\n");
}

// What few tables have: files without it stay as they were.
TEST(Schema, AnOptionalColumnMayBeMissing) {
  Schema schema = kSchema;
  schema.columns.insert(schema.columns.end() - 1, {"rate", any_text, false, true});
  const std::string without = kHeader + "3,a,m,0,x\n";
  const Table table = read_table(schema, without, "cost.csv");
  EXPECT_TRUE(table.problems.empty()) << text(table.problems);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].fields, (Fields{"a", "m", "0", "", "x"}));
  EXPECT_EQ(write_table(schema, {table.rows[0].fields}), without);

  const std::string with = "schema,case,metric,value,rate,why\n3,a,m,0,,x\n3,b,m,1,7,x\n";
  EXPECT_EQ(write_table(schema, {{"b", "m", "1", "7", "x"}, table.rows[0].fields}), with);
  EXPECT_EQ(read_table(schema, with, "cost.csv").rows.at(1).fields.at(3), "7");
  EXPECT_FALSE(read_table(kSchema, with, "cost.csv").problems.empty()) << "not everybody's";
}

TEST(Schema, HeaderProblems) {
  EXPECT_EQ(problems_of("schema,case,metric,valeu,why,case\n"),
            "cost.csv:1: unknown column 'valeu'; a cost table has the columns "
            "schema,case,metric,value,why\n"
            "cost.csv:1: column 'case' appears twice; remove one of them\n"
            "cost.csv:1: column 'value' is missing; a cost table has the columns "
            "schema,case,metric,value,why; if an older program wrote the file, delete it and bless "
            "its rows anew\n");
  EXPECT_EQ(problems_of("case,metric,value,why\nc,m,1,\n"),
            "cost.csv:1: column 'schema' is missing; a cost table has the columns "
            "schema,case,metric,value,why; if an older program wrote the file, delete it and bless "
            "its rows anew\n");
}

TEST(Schema, OfAnotherVersionsColumnsTheVersionIsSaid) {
  EXPECT_EQ(problems_of("schema,case,value\n2,c,1\n2,d,1\n"),
            "cost.csv:1: schema version '2', but this program reads 3; delete it and bless its "
            "rows anew\n");
  EXPECT_NE(problems_of("schema,case,value\n3,c,1\n").find("column 'metric' is missing"),
            std::string::npos)
      << "of this version it is the column";
}

TEST(Schema, RowProblems) {
  EXPECT_EQ(problems_of(kHeader + "3,c,m,1\n"),
            "cost.csv:2: 4 fields under 5 columns; add the missing or remove the surplus fields; "
            "quote a field that holds commas\n");
  EXPECT_EQ(problems_of(kHeader + "3,c,m,1,a,b\n"),
            "cost.csv:2: 6 fields under 5 columns; add the missing or remove the surplus fields; "
            "quote a field that holds commas\n");
  EXPECT_EQ(problems_of(kHeader + "\n3,c,m,1,\n"), "cost.csv:2: an empty line; remove it\n");
  EXPECT_EQ(problems_of(kHeader + "2,c,m,1,\n"),
            "cost.csv:2: schema version '2', but this program reads 3; delete the rows of that "
            "version and bless them again, or use the program that wrote them\n");
  EXPECT_EQ(problems_of(kHeader + "3,,m,1,\n"), "cost.csv:2: case: it is empty; name it\n");
  EXPECT_EQ(problems_of(kHeader + "3,c d,m,1,\n"),
            "cost.csv:2: case: 'c d' is not a name; use letters, digits, '_' and '.' only\n");
  for (const std::string bad : {"nan", "inf", "-1", "", "1x"})
    EXPECT_EQ(problems_of(kHeader + "3,c,m," + bad + ",\n"),
              "cost.csv:2: value: '" + bad +
                  "' is not a number from 0 to 1e+18; delete the line, then measure and bless the "
                  "row again\n");
}

TEST(Schema, RowsAreUniqueAndSorted) {
  EXPECT_EQ(problems_of(kHeader + "3,a,m,1,\n3,a,m,2,\n"),
            "cost.csv:3: the row 'a m' was given on line 2 already; keep the correct one\n");
  EXPECT_EQ(problems_of(kHeader + "3,b,m,1,\n3,a,m,2,\n3,c,m,1,\n"),
            "cost.csv:3: the row 'a m' stands after 'b m'; sort the rows by their key, bytewise "
            "(LC_ALL=C)\n");
  EXPECT_EQ(problems_of(kHeader + "3,B,m,1,\n3,a,m,2,\n"), "") << "bytewise: capitals come first";
}

TEST(Schema, ReportsEveryProblemInLineOrder) {
  const Table table = read_table(kSchema,
                                 kHeader + "3,c,m,-1,\n3,a,b\n3,d,\"m\"x,1,\n4,e,m,1,\n"
                                           "3,f,m,1,\n3,f,m,1,\n3,?,!,x,\n",
                                 "cost.csv");
  std::vector<std::size_t> lines;
  for (const Problem& problem : table.problems) lines.push_back(problem.line);
  EXPECT_EQ(lines, (std::vector<std::size_t>{2, 3, 4, 5, 7, 8, 8, 8, 8}));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].line, 6u);
}

TEST(Schema, ASickHeaderIsOneProblem) {
  EXPECT_EQ(
      problems_of("schema,\"case\"x,metric,value,why\n3,c,m,1,\n"),
      "cost.csv:1: text after the closing quote of \"case\"; double the quotes that belong to "
      "the field\n");
}

TEST(Schema, PositiveNumbers) {
  EXPECT_FALSE(positive_numbers("1;2.5;3"));
  for (const char* bad : {"", "1;", ";1", "1;;2", "1;0", "1;-2", "1,2", "1;nan"})
    EXPECT_TRUE(positive_numbers(bad)) << bad;
  EXPECT_TRUE(a_positive_number("0"));
  EXPECT_FALSE(a_positive_number("0.1"));
  EXPECT_EQ(join_numbers({1, 2.5, 1234567}), "1;2.5;1.23457e+06");
  EXPECT_EQ(split_numbers("1;2.5;3"), (std::vector<double>{1, 2.5, 3}));
  EXPECT_THROW(split_numbers("1;x"), Error);
}

} // namespace
} // namespace kg::judge
