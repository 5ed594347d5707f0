// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is expected of kernels beside what an H200 was measured to do. Nothing in the
// model was fitted to these rows; a change that ranks them worse fails here.
#include "perf/code/sass/pace.h"
#include "perf/judge/parts.h"
#include "tests/unit/perf/code/sass/code.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <sstream>

namespace kg::sass {
namespace {

using judge::parts_of;

struct Row {
  std::string name, of;
  int depth = 0, threads = 0, warps = 0;
  double bound = 0, measured = 0; // shares
  std::vector<std::string> pass;
  double expected = 0;
};

std::vector<Row> read_rows() {
  std::istringstream text(read_file(KERNELGRADE_H200_PASSES).value());
  std::vector<Row> rows;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('#')) continue;
    if (!line.starts_with("row ")) {
      for (std::string& instruction : parts_of(line, ';'))
        rows.back().pass.push_back(std::move(instruction));
      continue;
    }
    const std::vector<std::string> field = parts_of(line.substr(4), '|');
    rows.push_back({field.at(0),
                    field.at(1),
                    std::stoi(field.at(2)),
                    std::stoi(field.at(3)),
                    std::stoi(field.at(4)),
                    std::stod(field.at(5)) / 100,
                    std::stod(field.at(6)),
                    {},
                    0});
  }
  return rows;
}

double expected_of(const Row& row, const model::Gpu& gpu) {
  Kernel kernel;
  kernel.threads = row.threads;
  kernel.warps = row.warps;
  Part part;
  part.depth = row.depth;
  kernel.analysis.parts = {part};
  kernel.analysis.pass = test::controlled(row.pass).code;
  LimitShare limit_share;
  limit_share.of = row.of;
  return pace_of(kernel, limit_share, gpu).share_pct / 100;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> found;
  for (const double value : values) {
    double rank = 0; // of equal ones the same
    for (const double other : values) rank += other < value ? 1 : other == value ? 0.5 : 0;
    found.push_back(rank);
  }
  return found;
}

// Kernels that stream differ by less than a measurement's 5 %: no order is right among them.
std::vector<double> rounded(std::vector<double> shares) {
  for (double& share : shares) share = std::round(share * 20) / 20;
  return shares;
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = static_cast<double>(x.size()) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

// Of what was said over what was measured.
double median_error(const std::vector<double>& said, const std::vector<double>& measured) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < said.size(); ++i)
    errors.push_back(std::abs(said[i] / measured[i] - 1));
  std::sort(errors.begin(), errors.end());
  return errors[errors.size() / 2];
}

TEST(PaceOnAnH200, RanksKernelsAsTheGpuDid) {
  const std::vector<model::Gpu> gpus = model::load_gpus(KERNELGRADE_GPUS);
  const auto h200 = std::find_if(gpus.begin(), gpus.end(),
                                 [](const model::Gpu& gpu) { return gpu.name == "nvidia-h200"; });
  ASSERT_NE(h200, gpus.end());
  std::vector<double> expected, bound, measured;
  std::string table;
  for (const Row& row : read_rows()) {
    expected.push_back(expected_of(row, *h200));
    bound.push_back(row.bound);
    measured.push_back(row.measured);
    table += fmt::format("{:45} bound {:.2f}, expected {:.3f}, measured {:.2f}\n", row.name,
                         row.bound, expected.back(), row.measured);
  }
  EXPECT_EQ(expected.size(), 13u);
  const double ranked = spearman(rounded(expected), rounded(measured));
  EXPECT_GE(ranked, 0.65) << table;
  EXPECT_GT(ranked, spearman(rounded(bound), rounded(measured)) + 0.15) << table;
  EXPECT_LE(median_error(expected, measured), 0.1) << table;
  EXPECT_LT(median_error(expected, measured), median_error(bound, measured)) << table;
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(expected[i], bound[i] + 0.01) << "a bound is no less: " << table;
}

} // namespace
} // namespace kg::sass
