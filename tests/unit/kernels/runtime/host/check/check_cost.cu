// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the checkers cost: the same kernels at -O2 without checks (check_cost_plain) and under the
// checkers (check_cost_checked), on one OS thread.
//
//   check_cost_plain > plain.txt; check_cost_checked plain.txt [row]
//
// prints milliseconds of processor time and, given the other program's output, how many times as
// long. Every figure is the least of several runs. Asserts nothing; the checkers should cost at
// most 6 times as much, but for the vector sum, which does nothing but access memory.
#include "ops/elementwise/elementwise.h"
#include "ops/gemm/gemm.h"
#include "ops/reduction/reduction.h"
#include "ops/softmax/softmax.h"
#include "runtime/buffer.h"
#include "runtime/schedule.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace kg {
namespace {

// Of the processor, which other programs may want, too.
double fastest_ms(const std::function<void()>& run) {
  double fastest = std::numeric_limits<double>::infinity();
  const std::clock_t end = std::clock() + CLOCKS_PER_SEC;
  for (int runs = 0; runs < 3 || std::clock() < end; ++runs) {
    const std::clock_t start = std::clock();
    run();
    fastest = std::min(fastest, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return fastest;
}

std::map<std::string, double> read_rows(const char* path) {
  std::map<std::string, double> rows;
  std::ifstream file(path);
  std::string name;
  double ms = 0;
  while (file >> name >> ms) rows[name] = ms;
  return rows;
}

int bench(const char* other, const std::string& only) {
  const ScopedSchedule one_worker({.workers = 1});
  const std::map<std::string, double> plain =
      other ? read_rows(other) : std::map<std::string, double>();
  Stream stream;
  const auto row = [&](const std::string& name, const std::function<void()>& run) {
    if (name.find(only) == std::string::npos) return;
    const double ms = fastest_ms(run);
    std::printf("%-36s %10.3f", name.c_str(), ms);
    if (const auto at = plain.find(name); at != plain.end())
      std::printf("   %.1fx of %.3f", ms / at->second, at->second);
    std::printf("\n");
  };
  const auto ones = [&](std::int64_t count) {
    return DeviceBuffer<float>::from_host(std::vector<float>(static_cast<std::size_t>(count), 1.0f),
                                          stream);
  };

  constexpr std::int64_t kEdge = 256;
  const auto a = ones(kEdge * kEdge);
  const auto b = ones(kEdge * kEdge);
  const auto c = ones(kEdge * kEdge);
  for (const auto variant : gemm::kVariants) {
    row(std::string("gemm_256_") + std::string(gemm::name(variant)), [&] {
      gemm::Problem problem{};
      problem.m = problem.n = problem.k = kEdge;
      problem.a = a.data();
      problem.b = b.data();
      problem.c = c.data();
      problem.lda = problem.ldb = problem.ldc = kEdge;
      problem.math = gemm::Math::tf32; // which mma alone uses
      gemm::run(problem, variant, stream);
    });
  }

  constexpr std::int64_t kRows = 512;
  constexpr std::int64_t kCols = 1024;
  const auto x = ones(kRows * kCols);
  const auto y = ones(kRows * kCols);
  for (const auto variant :
       {softmax::Variant::naive, softmax::Variant::warp, softmax::Variant::block}) {
    row(std::string("softmax_512x1024_") + std::string(softmax::name(variant)), [&] {
      softmax::run<float>(softmax::Kind::softmax, matrix<const float>(x.data(), kRows, kCols),
                          matrix<float>(y.data(), kRows, kCols), variant, stream);
    });
  }

  const auto view = reduction::packed<float>(x.data(), {1, kRows * kCols, 1});
  for (const auto variant : {reduction::Variant::naive, reduction::Variant::tiled}) {
    const DeviceBuffer<unsigned char> workspace(reduction::workspace_bytes(view, variant));
    row(std::string("reduction_512x1024_") + std::string(reduction::name(variant)), [&] {
      reduction::run(reduction::Op::sum, view, y.data(), workspace.data(), variant, stream);
    });
  }

  row("elementwise_add_524288", [&] {
    elementwise::run(elementwise::Op::add, x.data(), x.data(), y.data(), kRows * kCols,
                     elementwise::Variant::vectorized, stream);
  });
  return 0;
}

} // namespace
} // namespace kg

int main(int argc, char** argv) {
  return kg::bench(argc > 1 ? argv[1] : nullptr, argc > 2 ? argv[2] : "");
}
