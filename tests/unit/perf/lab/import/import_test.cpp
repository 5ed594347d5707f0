// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What other tools' files become.
#include "perf/lab/import/formats.h"
#include "perf/lab/import/load.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::imports {
namespace {

using judge::Kind;
using judge::Mode;
using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kData = KG_IMPORT_DATA;

TEST(ImportIds, KeepOnlyTheAlphabetOfIds) {
  EXPECT_EQ(id_word("a<b, c>::d"), "a_b_c_d");
  EXPECT_EQ(id_word("__a.5__"), "a_5");
  EXPECT_EQ(id_parameters("x=0.5/y"), "x_0.5_y");
  EXPECT_EQ(imported_row("", "", "<>", Mode::hot).key.case_id, "unnamed.any.all");
}

TEST(ImportNvbench, TakesSummariesWhereThereAreNoSamples) {
  const judge::Results run = load_any(kData / "nvbench.json");
  EXPECT_EQ(run.environment.at("device"), "nvidia-h200");
  EXPECT_EQ(run.environment.at("sm_count"), "132");
  ASSERT_EQ(run.rows.size(), 3u);
  const judge::Measured& cold = run.rows[0];
  EXPECT_EQ(cold.op, "axpy");
  EXPECT_EQ(cold.dtype, "F32");
  EXPECT_EQ(cold.key.case_id, "axpy.F32.Elements1048576");
  EXPECT_EQ(cold.key.variant, "imported");
  EXPECT_EQ(cold.key.mode, Mode::cold);
  EXPECT_THAT(cold.samples_ns, ElementsAre(testing::DoubleEq(12500))); // the hidden median
  EXPECT_THAT(cold.note, HasSubstr("nv/cold/time/gpu/median"));
  EXPECT_EQ(run.rows[1].key.mode, Mode::hot);
  EXPECT_DOUBLE_EQ(run.rows[1].median_ns, 5000);
  EXPECT_EQ(run.rows[2].skipped, "not enough memory");
  EXPECT_TRUE(run.rows[2].samples_ns.empty());
}

// The same file with a summary that names a file of samples, which the test writes.
class ImportNvbenchSamples : public testing::Test {
 protected:
  void write(const std::string& size, const std::vector<float>& seconds,
             const std::string& to = "run.json-bin/0.bin") {
    std::string json = read_file(kData / "nvbench.json").value();
    const std::string before = R"({"tag": "nv/cold/time/gpu/mean")";
    json.insert(json.find(before),
                R"({"tag": "nv/json/bin:nv/cold/sample_times", "hide": "Not needed in table.", )"
                R"("hint": "file/sample_times", "data": [)"
                R"({"name": "filename", "type": "string", "value": "run.json-bin/0.bin"},)"
                R"({"name": "size", "type": "int64", "value": ")" +
                    size + R"("}]},)");
    write_file(path(), json);
    if (seconds.empty()) return;
    write_file(folder.path() / to,
               {reinterpret_cast<const char*>(seconds.data()), seconds.size() * sizeof(float)});
  }
  std::filesystem::path path() const { return folder.path() / "run.json"; }
  judge::test::Folder folder;
};

TEST_F(ImportNvbenchSamples, AreTakenFromTheirFile) {
  write("3", {1e-5F, 3e-5F, 2e-5F});
  const judge::Measured cold = load_any(path()).rows.at(0);
  ASSERT_EQ(cold.samples_ns.size(), 3u);
  EXPECT_NEAR(cold.samples_ns[1], 30000, 1e-2);
  EXPECT_NEAR(cold.median_ns, 20000, 1e-2);
  EXPECT_EQ(cold.note, "");
}

TEST_F(ImportNvbenchSamples, AreRefusedWhereTheFileIsMissingOrBroken) {
  const auto error = [&] {
    try {
      load_any(path());
    } catch (const Error& thrown) {
      return std::string(thrown.what());
    }
    return std::string("no error");
  };
  write("3", {});
  EXPECT_THAT(error(), HasSubstr("0.bin is not there; copy it along"));
  write("3", {1e-5F, 3e-5F});
  EXPECT_THAT(error(), HasSubstr("8 bytes, which are not its 3 samples"));
  write("2", {1e-5F, -1});
  EXPECT_THAT(error(), HasSubstr("sample 1 of run.json-bin/0.bin is -1 s"));
}

TEST(ImportGoogleBenchmark, TakesRepetitionsAndLeavesAggregates) {
  const judge::Results run = load_any(kData / "google_benchmark.json");
  EXPECT_EQ(run.environment.at("host_name"), "bench1");
  EXPECT_EQ(run.environment.at("device"), "host");
  ASSERT_EQ(run.rows.size(), 3u);
  const judge::Measured& row = run.rows[0];
  EXPECT_EQ(row.key.case_id, "BM_axpy.float.1024");
  EXPECT_EQ(row.key.mode, Mode::real);
  EXPECT_THAT(row.samples_ns, ElementsAre(2000, 4000, 3000));
  EXPECT_EQ(row.process_medians_ns.size(), 1u); // repetitions share a process
  EXPECT_EQ(row.tags.at("name"), "BM_axpy<float>/1024");
  EXPECT_EQ(run.rows[1].key.case_id, "BM_load.any.all");
  EXPECT_EQ(run.rows[1].verified, "no such file");
  EXPECT_EQ(run.rows[2].key.case_id, "BM_wide.any.8_threads_2");
  EXPECT_EQ(run.rows[2].skipped, "one core");
}

TEST(ImportCutlass, TakesOneRuntimePerOperation) {
  const judge::Results run = load_any(kData / "cutlass.gemm.csv");
  ASSERT_EQ(run.rows.size(), 4u);
  const judge::Measured& ours = run.rows[0];
  EXPECT_EQ(ours.key.case_id, "gemm.f16.gemm_kind_universal_m1024_n512_k256_A_f16_column_B_f16_"
                              "column_C_f16_column_D_f16_column_alpha1_beta0");
  EXPECT_EQ(ours.key.variant, "cutlass_tensorop_h16816gemm_128x128_32x4_nn_align8");
  EXPECT_EQ(ours.key.mode, Mode::hot);
  EXPECT_EQ(ours.kind, Kind::ours);
  EXPECT_THAT(ours.samples_ns, ElementsAre(20000)); // 0.02 ms
  EXPECT_EQ(ours.bytes, 1835008);
  EXPECT_EQ(ours.flops, 268435456);
  EXPECT_EQ(run.rows[1].kind, Kind::vendor);
  EXPECT_EQ(run.rows[1].key.case_id, ours.key.case_id);
  EXPECT_EQ(run.rows[1].key.variant, "cublas_" + ours.key.variant);
  EXPECT_THAT(run.rows[1].note, HasSubstr("not verified"));
  EXPECT_THAT(run.rows[2].verified, HasSubstr("incorrect"));
  EXPECT_TRUE(run.rows[2].samples_ns.empty());
  EXPECT_THAT(run.rows[3].skipped, HasSubstr("not_run"));
}

TEST(ImportOwnResults, AreReadAsTheyAre) {
  const judge::test::Folder folder;
  const judge::Results imported = load_any(kData / "google_benchmark.json");
  judge::save_results(folder.path() / "own", imported);
  const judge::Results own = load_any(folder.path() / "own");
  EXPECT_EQ(own.environment, imported.environment);
  EXPECT_EQ(own.rows, imported.rows);
}

} // namespace
} // namespace kg::imports
