// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast the executor is, beside what it should reach. Prints, asserts nothing.
//
//   executor_bench [row]    only the rows whose name contains the text
//
// Every figure is the least of many short runs: what else the machine does only ever adds to a run.
#include "ops/gemm/gemm.h"
#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "runtime/schedule.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <string_view>

namespace kg {
namespace {

using Clock = std::chrono::steady_clock;

__global__ void empty() {}

__global__ void add(const float* a, const float* b, float* sum) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = a[i] + b[i];
}

__global__ void barriers(int count) {
  for (int i = 0; i < count; ++i) __syncthreads();
}

__global__ void shuffles(int count, float* out) {
  float value = static_cast<float>(threadIdx.x);
  for (int i = 0; i < count; ++i) value = __shfl_xor_sync(0xffffffffu, value, 1);
  out[threadIdx.x] = value;
}

// Nanoseconds of the fastest of the runs that fit into a quarter of a second.
double fastest_ns(const std::function<void()>& run) {
  double fastest = std::numeric_limits<double>::infinity();
  const auto end = Clock::now() + std::chrono::milliseconds(250);
  do {
    const auto start = Clock::now();
    run();
    fastest =
        std::min(fastest, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  } while (Clock::now() < end);
  return fastest;
}

// Prints rows whose name contains a text.
class Table {
 public:
  explicit Table(std::string_view only) : only_(only) {
    fmt::print("{:<44}{:>10}  {:<10}{}\n", "", "measured", "unit", "target");
  }

  void row(const std::string& name, const char* unit, const char* target,
           const std::function<double()>& measure) const {
    if (name.find(only_) == std::string::npos) return;
    fmt::print("{:<44}{:>10.2f}  {:<10}{}\n", name, measure(), unit, target);
  }

 private:
  std::string_view only_;
};

void bench_one_thread(const Table& table) {
  const ScopedSchedule one_worker({.workers = 1});
  constexpr unsigned kThreads = 256;
  table.row("thread without a barrier", "ns", "<= 4", [] {
    constexpr unsigned kBlocks = 1000;
    return fastest_ns([] { launch(empty, {.grid = kBlocks, .block = kThreads}); }) /
           (kBlocks * kThreads);
  });
  table.row("thread that adds two floats", "ns", "", [] {
    constexpr unsigned kBlocks = 100;
    std::vector<float> a(kBlocks * kThreads), b(a.size()), sum(a.size());
    return fastest_ns([&] {
             launch(add, {.grid = kBlocks, .block = kThreads}, a.data(), b.data(), sum.data());
           }) /
           (kBlocks * kThreads);
  });
  for (const unsigned block : {32u, 256u, 1024u}) {
    // The difference of two counts leaves out starting and ending the threads.
    const auto per_call = [block](const std::function<void(int)>& run) {
      const int calls = static_cast<int>(200'000 / block);
      const double few = fastest_ns([&] { run(calls / 10); });
      const double many = fastest_ns([&] { run(calls); });
      return (many - few) / ((calls - calls / 10) * static_cast<double>(block));
    };
    table.row(fmt::format("barrier per thread, block of {}", block), "ns", "<= 10", [&] {
      return per_call([&](int count) { launch(barriers, {.grid = 1, .block = block}, count); });
    });
    table.row(fmt::format("shuffle per thread, block of {}", block), "ns", "<= 15", [&] {
      std::vector<float> out(block);
      return per_call(
          [&](int count) { launch(shuffles, {.grid = 1, .block = block}, count, out.data()); });
    });
    table.row(fmt::format("thread start, barrier and end, block of {}", block), "ns", "", [&] {
      return fastest_ns([&] { launch(barriers, {.grid = 20, .block = block}, 1); }) /
             (20.0 * block);
    });
  }
}

void bench_launches(const Table& table) {
  for (const unsigned blocks : {1u, 8u}) {
    table.row(fmt::format("launch, {} block{} of 32", blocks, blocks == 1 ? "" : "s"), "ns", "",
              [blocks] {
                return fastest_ns([blocks] { launch(empty, {.grid = blocks, .block = 32}); });
              });
  }
}

void bench_gemm(const Table& table) {
#if defined(__clang__)
  constexpr const char* kTarget = ">= 60";
#else
  constexpr const char* kTarget = ">= 30";
#endif
  table.row("tiled SGEMM 1024 x 1024 x 1024", "GFLOP/s", kTarget, [] {
    constexpr std::int64_t kExtent = 1024;
    Stream stream;
    const std::vector<float> ones(kExtent * kExtent, 1.0f);
    const auto a = DeviceBuffer<float>::from_host(ones, stream);
    const auto b = DeviceBuffer<float>::from_host(ones, stream);
    DeviceBuffer<float> c(ones.size());
    const gemm::Problem problem{.m = kExtent,
                                .n = kExtent,
                                .k = kExtent,
                                .a = a.data(),
                                .lda = kExtent,
                                .b = b.data(),
                                .ldb = kExtent,
                                .c = c.data(),
                                .ldc = kExtent};
    return gemm::work(problem).flops /
           fastest_ns([&] { gemm::run(problem, gemm::Variant::tiled, stream); });
  });
}

} // namespace
} // namespace kg

int main(int count, char** arguments) {
  const kg::Table table(count > 1 ? arguments[1] : "");
  kg::bench_one_thread(table);
  kg::bench_launches(table);
  kg::bench_gemm(table);
}
