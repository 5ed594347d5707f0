// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The available studies, explained by `kernelgrade study --help` and docs/how-to/run_a_study.md.
#include "perf/lab/study/models.h"
#include "perf/lab/study/settings.h"
#include "perf/lab/study/study.h"

#include "runtime/backend.h"
#include "runtime/error.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <sstream>
#include <string_view>

namespace kg::study {
namespace {

constexpr bool kHost = backend == Backend::host;

// The sizes up to --max-size, unique and ascending.
std::vector<std::int64_t> up_to_max(std::vector<std::int64_t> sizes, const Settings& settings) {
  const std::int64_t most = number(settings, "max-size");
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  const std::int64_t least = sizes.front();
  std::erase_if(sizes, [&](std::int64_t size) { return size > most; });
  if (sizes.empty())
    throw Error(fmt::format("--max-size {}: the smallest size of the study is {}", most, least));
  return sizes;
}

// A point for each size; `shape` gives its case.
std::vector<Point> sweep(const std::vector<std::int64_t>& sizes, const std::string& op,
                         const Settings& settings,
                         const std::function<std::string(std::int64_t)>& shape) {
  std::vector<Point> points;
  for (const std::int64_t size : sizes)
    points.push_back({fmt::format("{}.{}.{}", op, settings.at("dtype"), shape(size)),
                      std::to_string(size), "", static_cast<double>(size)});
  return points;
}

std::vector<std::int64_t> powers(std::int64_t from, std::int64_t to, std::int64_t step) {
  std::vector<std::int64_t> result;
  for (std::int64_t value = from; value <= to; value *= step) result.push_back(value);
  return result;
}

const Setting kOnly = {
    "only", "", "only Kernelgrade's kernels (`ours`) or only `libraries`, frameworks included"};
const Setting kPeer = {"peer", "",
                       "frameworks to compare with: torch,jax (from KERNELGRADE_PYTHON)"};
const Setting kDtype = {"dtype", "f32", "type of the elements"};

Study vector_add() {
  return {
      "vector_add",
      "adds two arrays, from sizes where only overhead counts to sizes where only memory does",
      "elements",
      {{"max-size", kHost ? "16777216" : "268435456", "elements of the largest arrays"}, kDtype},
      Scaling{1},
      [](const Settings& settings) {
        std::vector<std::int64_t> sizes = powers(16, std::int64_t{1} << 30, 4);
        sizes.insert(sizes.end(), {1024, 10240, 102400});
        return sweep(up_to_max(sizes, settings), "elementwise", settings,
                     [](std::int64_t n) { return fmt::format("add_n{}", n); });
      }};
}

Study relu() {
  return {"relu",
          "relu of 1,048,576 and 4,194,304 elements",
          "elements",
          {kDtype},
          {},
          [](const Settings& settings) {
            return sweep({1048576, 4194304}, "activation", settings,
                         [](std::int64_t n) { return fmt::format("relu_n{}", n); });
          }};
}

// Tolerance of exponents: a rate that rises or falls by a fifth per doubling changes an exponent by
// log2(1.2) = 0.26. Full caches and machines that are not yet full change it less where the work
// dominates; an algorithm of another order changes it more.
constexpr double kSlowlyChangingRate = 0.25;

Study matmul() {
  return {"matmul",
          "multiplies square matrices n x n. Its time must grow as n^3",
          "n",
          {{"max-size", kHost ? "2048" : "16384", "the largest n"}, kDtype},
          Scaling{3, kSlowlyChangingRate},
          [](const Settings& settings) {
            return sweep(up_to_max(powers(16, 16384, 2), settings), "gemm", settings,
                         [](std::int64_t n) { return fmt::format("m{0}_n{0}_k{0}_nn", n); });
          }};
}

// Scores, exponentials and both products are n^2 each: only q, k, v and the result grow like n.
Study attention() {
  return {"attention",
          "attends from n queries to n keys. Its time must grow as n^2",
          "tokens",
          {{"max-size", kHost ? "2048" : "16384", "the longest sequence"},
           {"heads", "2", "of queries, and as many of keys and values"},
           {"depth", "64", "elements of each head"},
           kDtype},
          Scaling{2, kSlowlyChangingRate},
          [](const Settings& settings) {
            const std::int64_t heads = number(settings, "heads"), depth = number(settings, "depth");
            return sweep(up_to_max(powers(16, 16384, 2), settings), "attention", settings,
                         [&](std::int64_t n) {
                           return fmt::format("b1_h{}_q{}_k{}_d{}", heads, n, n, depth);
                         });
          }};
}

// The measurements for the table of gemm's `automatic` (kernelgrade choose).
Study matmul_shapes() {
  return {"matmul_shapes",
          "multiplies matrices of all proportions, m x k by k x n: which variant where",
          "k",
          {{"m", kHost ? "1,64,256" : "1,8,64,256,1024,4096", "rows of the product"},
           {"n", kHost ? "1,64,256" : "1,8,64,256,1024,4096", "its columns"},
           {"k", kHost ? "64,1024" : "64,512,4096", "the common dimension k"},
           kDtype},
          Scaling{1},
          [](const Settings& settings) {
            std::vector<Point> points;
            for (const std::int64_t m : numbers(settings, "m"))
              for (const std::int64_t n : numbers(settings, "n"))
                for (const std::int64_t k : numbers(settings, "k"))
                  points.push_back(
                      {fmt::format("gemm.{}.m{}_n{}_k{}_nn", settings.at("dtype"), m, n, k),
                       fmt::format("{}x{}, k {}", m, n, k), fmt::format("{}x{}", m, n),
                       static_cast<double>(k)});
            return points;
          }};
}

Study conv() {
  return {"conv",
          "convolves square images by square kernels, padded to keep their size",
          "input",
          {{"input", "32,64,128", "height and width of the images"},
           {"kernel", "3,5,7", "height and width of the kernels"},
           {"batch", "2", "images"},
           {"in-channels", "4", "channels of an image"},
           {"out-channels", "8", "channels of the result"},
           kDtype},
          {},
          [](const Settings& settings) {
            const std::int64_t batch = number(settings, "batch");
            const std::int64_t in = number(settings, "in-channels");
            const std::int64_t out = number(settings, "out-channels");
            std::vector<Point> points;
            for (const std::int64_t input : numbers(settings, "input"))
              for (const std::int64_t kernel : numbers(settings, "kernel")) {
                const std::int64_t pad = kernel / 2;
                const std::int64_t side = input + 2 * pad - kernel + 1;
                points.push_back(
                    {fmt::format("conv2d.{}.nchw_n{}_c{}_h{}_w{}_o{}_k{}_s1_p{}_g1",
                                 settings.at("dtype"), batch, in, input, input, out, kernel, pad),
                     fmt::format("{0}x{0}, kernel {1}x{1}", input, kernel),
                     fmt::format("kernel {0}x{0}", kernel), static_cast<double>(input),
                     fmt::format("{}x{}x{}x{}", batch, out, side, side)});
              }
            return points;
          }};
}

Point point(const Settings& settings, const std::string& op, const std::string& shape,
            const std::string& label, const std::string& group, std::int64_t size) {
  return {fmt::format("{}.{}.{}", op, settings.at("dtype"), shape), label, group,
          static_cast<double>(size)};
}

// The kernels of a report on Triton, each with its own row, whatever the outcome.
Study triton() {
  return {
      "triton",
      "vector add, matmul, relu, softmax-sum, separable convolution and pooling beside libraries",
      "problem",
      {{"matmul", kHost ? "128,256" : "512,1024,2048", "n of square matrices"}, kDtype},
      {},
      [](const Settings& settings) {
        std::vector<Point> points;
        for (const std::int64_t n : {1024, 10240, 102400})
          points.push_back(point(settings, "elementwise", fmt::format("add_n{}", n),
                                 fmt::format("vector add {}", n), "vector add", n));
        for (const std::int64_t n : numbers(settings, "matmul"))
          points.push_back(point(settings, "gemm", fmt::format("m{0}_n{0}_k{0}_nn", n),
                                 fmt::format("matmul {}", n), "matmul", n));
        for (const std::int64_t n : {1048576, 4194304})
          points.push_back(point(settings, "activation", fmt::format("relu_n{}", n),
                                 fmt::format("relu {}", n), "relu", n));
        points.push_back(point(settings, "softmax_sum", "k8_n65536", "softmax-sum 8 x 65536",
                               "softmax-sum", 65536));
        points.push_back(point(settings, "conv2d", "separable_nchw_n1_c32_h28_w28_o64_k3_s2_p1",
                               "separable convolution 28 x 28", "separable convolution", 28));
        points.push_back(point(settings, "pooling", "max_nhwc_n1_c32_h32_w32_k3_s2_p1",
                               "max pooling 32 x 32", "pooling", 32));
        return points;
      }};
}

// The categories of a report that grades them. Each row has its own grade, since a mean may hide
// that most rows are poor.
Study grades() {
  return {
      "grades",
      "grades elementwise, activation, reduction, matrix and memory operations by the libraries",
      "problem",
      {{"category", "elementwise,activation,reduction,matrix,memory", "categories to grade"},
       {"n", kHost ? "256" : "4096", "rows and columns"},
       kDtype},
      {},
      [](const Settings& settings) {
        const std::int64_t n = number(settings, "n");
        struct Problem {
          const char *category, *op, *shape;
        };
        constexpr Problem kProblems[] = {{"elementwise", "elementwise", "add_n{1}"},
                                         {"elementwise", "elementwise", "mul_n{1}"},
                                         {"elementwise", "elementwise", "div_n{1}"},
                                         {"activation", "activation", "relu_n{1}"},
                                         {"activation", "activation", "gelu_n{1}"},
                                         {"activation", "activation", "silu_n{1}"},
                                         {"reduction", "reduction", "rows_r{0}_c{0}"},
                                         {"reduction", "reduction", "columns_r{0}_c{0}"},
                                         {"reduction", "reduction", "max_rows_r{0}_c{0}"},
                                         {"matrix", "gemm", "m{0}_n{0}_k{0}_nn"},
                                         {"matrix", "gemm", "m{0}_n{0}_k{0}_nt"},
                                         {"memory", "transpose", "rows{0}_cols{0}"}};
        std::string_view rest = settings.at("category");
        std::vector<Point> points;
        for (bool more = true; more;) {
          const std::size_t comma = rest.find(',');
          const std::string wanted(rest.substr(0, comma));
          const std::size_t before = points.size();
          for (const Problem& each : kProblems) {
            if (each.category != wanted) continue;
            const std::string shape = fmt::format(fmt::runtime(each.shape), n, n * n);
            points.push_back(
                point(settings, each.op, shape, fmt::format("{}: {}", wanted, shape), wanted, n));
          }
          if (points.size() == before)
            throw Error(fmt::format("--category {}: unknown category '{}'; there are: "
                                    "elementwise, activation, reduction, matrix, memory",
                                    settings.at("category"), wanted));
          more = comma != rest.npos;
          if (more) rest.remove_prefix(comma + 1);
        }
        return points;
      }};
}

} // namespace

std::vector<std::int64_t> numbers(const Settings& settings, const std::string& name) {
  std::vector<std::int64_t> result;
  std::string_view rest = settings.at(name);
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view text = rest.substr(0, comma);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 1)
      throw Error(
          fmt::format("--{} {}: expected a whole number from 1, got '{}'; write 32 or 32,64,128",
                      name, settings.at(name), text));
    if (std::find(result.begin(), result.end(), number) != result.end())
      throw Error(fmt::format("--{} {}: {} is there twice", name, settings.at(name), number));
    result.push_back(number);
    more = comma != rest.npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return result;
}

std::int64_t number(const Settings& settings, const std::string& name) {
  const std::vector<std::int64_t> all = numbers(settings, name);
  if (all.size() != 1)
    throw Error(fmt::format("--{} {}: give one number", name, settings.at(name)));
  return all.front();
}

std::vector<std::string> words(const Settings& settings, const std::string& name) {
  std::vector<std::string> result;
  std::istringstream text(settings.at(name));
  for (std::string word; std::getline(text, word, ',');)
    if (!word.empty()) result.push_back(word);
  return result;
}

std::span<const Study> studies() {
  static const std::vector<Study> all = [] {
    std::vector<Study> made = {vector_add(), relu(),   matmul(), attention(), matmul_shapes(),
                               conv(),       triton(), grades(), mlp(),       fps()};
    for (Study& study : made) study.settings.insert(study.settings.end(), {kOnly, kPeer});
    return made;
  }();
  return all;
}

const Study& named(std::string_view name) {
  std::vector<std::string> names;
  for (const Study& study : studies()) {
    if (study.name == name) return study;
    names.push_back(study.name);
  }
  throw Error(fmt::format("unknown study '{}'; there are: {}", name, fmt::join(names, ", ")));
}

Settings completed(const Study& study, const Settings& given) {
  Settings result = given;
  for (const Setting& setting : study.settings) result.emplace(setting.name, setting.usual);
  return result;
}

} // namespace kg::study
