// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Broken files: the message names the file, the place and the fix.
#include "perf/lab/import/load.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::imports {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ImportFaults : public testing::Test {
 protected:
  // What loading `contents` throws.
  std::string error(const std::string& contents) {
    const std::filesystem::path path = folder.path() / "results";
    write_file(path, contents);
    try {
      load_any(path);
    } catch (const Error& thrown) {
      return thrown.what();
    }
    return "no error";
  }
  // A good file in which the first `piece` is replaced.
  std::string error_with(const std::string& file, const std::string& piece,
                         const std::string& replacement) {
    std::string contents = read_file(std::filesystem::path(KG_IMPORT_DATA) / file).value();
    const std::size_t at = contents.find(piece);
    EXPECT_NE(at, contents.npos) << piece;
    return error(contents.replace(at, piece.size(), replacement));
  }
  judge::test::Folder folder;
};

TEST_F(ImportFaults, NoFile) { EXPECT_THROW(load_any(folder.path() / "none"), Error); }

TEST_F(ImportFaults, UnknownFormats) {
  for (const char* contents : {"", " \n", "{}", "a,b\n1,2\n", "{\"benchmarks\":[]}"})
    EXPECT_THAT(error(contents), AllOf(HasSubstr("results:1"), HasSubstr("unknown format")))
        << contents;
}

TEST_F(ImportFaults, CutShort) {
  EXPECT_THAT(error("{\"context\":{},\n\"benchmarks\":["),
              AllOf(HasSubstr("results:2"), HasSubstr("not JSON")));
  EXPECT_THAT(error_with("cutlass.gemm.csv", ",85,13421\n", "\n"),
              AllOf(HasSubstr("results:2"), HasSubstr("interrupted")));
}

TEST_F(ImportFaults, GoogleBenchmark) {
  const char* file = "google_benchmark.json";
  EXPECT_THAT(error_with(file, "\"us\"", "\"fortnight\""),
              AllOf(HasSubstr("/benchmarks/0/time_unit"), HasSubstr("ns, us, ms or s")));
  EXPECT_THAT(error_with(file, "2.0e+00", "-2.0e+00"), HasSubstr("/benchmarks/0/real_time"));
  EXPECT_THAT(error_with(file, "\"run_type\": \"iteration\"", "\"run\": \"iteration\""),
              HasSubstr("/benchmarks/0/run_type is missing"));
  EXPECT_THAT(error("{\"context\":{},\"benchmarks\":[{\"run_type\":\"aggregate\"}]}"),
              HasSubstr("--benchmark_report_aggregates_only"));
}

TEST_F(ImportFaults, Nvbench) {
  const char* file = "nvbench.json";
  EXPECT_THAT(error_with(file, "\"device\": 0", "\"device\": 1"),
              AllOf(HasSubstr("Elements=2^30"), HasSubstr("--devices 1")));
  EXPECT_THAT(error_with(file, "\"id\": 0", "\"id\": 3"), HasSubstr("/devices lacks device 0"));
  EXPECT_THAT(error_with(file, "\"tag\"", "\"label\""),
              HasSubstr("/benchmarks/0/states/0/summaries/0/tag is missing"));
}

TEST_F(ImportFaults, Cutlass) {
  const char* file = "cutlass.gemm.csv";
  EXPECT_THAT(error_with(file, "Runtime", "Time"),
              AllOf(HasSubstr("results:1"), HasSubstr("'Runtime'")));
  EXPECT_THAT(error_with(file, "0.02", "fast"),
              AllOf(HasSubstr("results:2"), HasSubstr("Runtime is 'fast'")));
  EXPECT_THAT(error_with(file, "1,cuBLAS", "1,CUTLASS"),
              AllOf(HasSubstr("results:3"), HasSubstr("the id of an earlier row")));
}

} // namespace
} // namespace kg::imports
