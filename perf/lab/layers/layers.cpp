// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/layers/layers.h"

#include "perf/format/csv.h"
#include "perf/format/nearest.h"
#include "runtime/backend.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kg::layers {

extern const std::string table; // layers.csv, as the build embeds it

namespace {

constexpr std::array kColumns = {"model",   "layers",       "hidden",  "heads",     "kv_heads",
                                 "depth",   "intermediate", "experts", "per_token", "vocab",
                                 "context", "block",        "bias",    "dtype",     "source"};

std::int64_t number(const std::string& field, const std::string& where) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  require(error == std::errc{} && end == field.data() + field.size() && value > 0,
          fmt::format("{}: expected a whole number from 1, got '{}'", where, field));
  return value;
}

// The enumerator whose index is that of the word among `words`.
template <class Enumerator>
Enumerator word(const std::string& field, const std::vector<std::string>& words,
                const std::string& where) {
  const auto found = std::find(words.begin(), words.end(), field);
  require(found != words.end(),
          fmt::format("{}: expected one of {}, got '{}'", where, fmt::join(words, ", "), field));
  return static_cast<Enumerator>(found - words.begin());
}

Model read_model(const std::vector<std::string>& fields, const std::string& where) {
  require(fields.size() == kColumns.size(), fmt::format("{}: {} fields where there are {} columns",
                                                        where, fields.size(), kColumns.size()));
  const auto count = [&](std::size_t column) {
    return number(fields[column], fmt::format("{}, {}", where, kColumns[column]));
  };
  Model m{.name = fields[0],
          .layers = count(1),
          .hidden = count(2),
          .heads = count(3),
          .kv_heads = count(4),
          .depth = count(5),
          .intermediate = count(6),
          .experts = count(7),
          .per_token = count(8),
          .vocab = count(9),
          .context = count(10),
          .block = word<Block>(fields[11], {"llama", "gpt2"}, where),
          .bias = word<Bias>(fields[12], {"none", "qkv", "all"}, where),
          .dtype = fields[13],
          .source = fields[14]};
  require(m.heads % m.kv_heads == 0 && m.per_token <= m.experts && !m.source.empty(),
          where + ": kv_heads must divide heads, per_token be at most experts, and source say "
                  "where the numbers are from");
  return m;
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const Model& model : models()) result.push_back(model.name);
  return result;
}

// The problems of a number of tokens, shared by prompt and step.
class Layer {
 public:
  Layer(const Model& model, std::string_view dtype, std::int64_t tokens)
      : m_(model), dtype_(dtype.empty() ? model.dtype : dtype), tokens_(tokens) {}

  void add(std::string op, std::string shape) {
    Problem problem{std::move(op), std::move(shape), dtype_};
    // Operations that only move data use one type for each size.
    if ((problem.op == "kv_append" || problem.op == "gather") && dtype_ == "bf16")
      problem.dtype = "f16";
    if (std::find(problems.begin(), problems.end(), problem) == problems.end())
      problems.push_back(std::move(problem));
  }

  // x W^T, with W as in torch.nn.Linear; GPT-2's weights are transposed.
  void product(std::int64_t rows, std::int64_t columns, std::int64_t depth,
               std::string_view epilogue = "") {
    add("gemm",
        fmt::format("m{}_n{}_k{}_{}{}{}", rows, columns, depth,
                    m_.block == Block::gpt2 ? "nn" : "nt", epilogue.empty() ? "" : "_", epilogue));
  }
  void rows(const char* op, const char* form, std::int64_t columns) {
    add(op, fmt::format("{}rows{}_cols{}", form, tokens_, columns));
  }

  // Before attention: the queries, keys and values.
  void project() {
    norm();
    product(tokens_, (m_.heads + 2 * m_.kv_heads) * m_.depth, m_.hidden,
            m_.bias == Bias::none ? "" : "bias");
    if (m_.block == Block::llama)
      add("rope", fmt::format("t{}_h{}_d{}", tokens_, m_.heads + m_.kv_heads, m_.depth));
  }
  // After attention.
  void finish() {
    product(tokens_, m_.hidden, m_.heads * m_.depth, m_.bias == Bias::all ? "bias" : "");
    norm();
    if (m_.block == Block::gpt2) {
      product(tokens_, m_.intermediate, m_.hidden, "bias_gelu_tanh");
      product(tokens_, m_.hidden, m_.intermediate, "bias");
    } else if (m_.experts == 1) {
      gated(tokens_);
    } else {
      route();
    }
  }

  std::vector<Problem> problems;

 private:
  // Includes the residual addition.
  void norm() {
    if (m_.block == Block::llama) return rows("residual_rmsnorm", "", m_.hidden);
    add("elementwise", fmt::format("add_n{}", tokens_ * m_.hidden));
    rows("layernorm", "", m_.hidden);
  }
  void gated(std::int64_t tokens) {
    product(tokens, 2 * m_.intermediate, m_.hidden);
    add("gated_activation", fmt::format("swiglu_rows{}_cols{}", tokens, m_.intermediate));
    product(tokens, m_.hidden, m_.intermediate);
  }
  // One expert's part, for evenly distributed tokens.
  void route() {
    product(tokens_, m_.experts, m_.hidden);
    rows("softmax", "", m_.experts);
    const std::int64_t routed = tokens_ * m_.per_token;
    add("gather", fmt::format("i32_outer1_rows{}_inner{}_count{}", tokens_, m_.hidden, routed));
    gated(std::max<std::int64_t>(routed / m_.experts, 1));
  }

  const Model& m_;
  std::string dtype_;
  std::int64_t tokens_;
};

} // namespace

std::vector<Model> read_models(std::string_view csv, const std::string& file) {
  const judge::Csv read = judge::read_csv(csv, file);
  if (!read.problems.empty()) throw Error(judge::text(read.problems));
  require(!read.records.empty() &&
              std::equal(kColumns.begin(), kColumns.end(), read.records[0].fields.begin(),
                         read.records[0].fields.end()),
          fmt::format("{}:1: the columns must be {}", file, fmt::join(kColumns, ",")));
  std::vector<Model> models;
  for (std::size_t i = 1; i < read.records.size(); ++i) {
    models.push_back(
        read_model(read.records[i].fields, fmt::format("{}:{}", file, read.records[i].line)));
    const auto same = [&](const Model& each) { return each.name == models.back().name; };
    require(
        std::count_if(models.begin(), models.end(), same) == 1,
        fmt::format("{}:{}: {} is there twice", file, read.records[i].line, models.back().name));
  }
  return models;
}

const std::vector<Model>& models() {
  static const std::vector<Model> all = read_models(table, "perf/lab/layers/layers.csv");
  return all;
}

const Model& model_named(std::string_view name) {
  for (const Model& model : models())
    if (model.name == name) return model;
  const std::string meant = cli::nearest(name, names());
  fail(fmt::format("unknown model '{}'; {}here are: {}", name,
                   meant.empty() ? "t" : "did you mean " + meant + "? T",
                   fmt::join(names(), ", ")));
}

Load usual_load() {
  if (backend == Backend::host) return {.tokens = 16, .sequences = 2, .keys = 128};
  return {.tokens = 2048, .sequences = 32, .keys = 4096};
}

std::vector<Problem> layer_of(const Model& m, const Load& load, std::string_view dtype) {
  constexpr int kPage = 16; // tokens per cache page
  const std::int64_t tokens = std::min(load.tokens, m.context);
  const std::int64_t keys = std::min(load.keys, m.context);
  const std::string heads = m.kv_heads == m.heads ? fmt::format("h{}", m.heads)
                                                  : fmt::format("h{}_kv{}", m.heads, m.kv_heads);

  Layer prompt(m, dtype, tokens);
  prompt.project();
  prompt.add("kv_append",
             fmt::format("b1_t{}_h{}_d{}_k{}_page{}", tokens, m.kv_heads, m.depth, tokens, kPage));
  prompt.add("attention", fmt::format("b1_{}_q{}_k{}_d{}_causal", heads, tokens, tokens, m.depth));
  prompt.finish();

  Layer step(m, dtype, load.sequences);
  step.problems = std::move(prompt.problems);
  step.project();
  step.add("kv_append", fmt::format("b{}_t1_h{}_d{}_k{}_page{}", load.sequences, m.kv_heads,
                                    m.depth, keys, kPage));
  step.add("attention_decode",
           fmt::format("b{}_{}_q1_k{}_d{}_page{}", load.sequences, heads, keys, m.depth, kPage));
  step.finish();
  return step.problems;
}

} // namespace kg::layers
