// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Language models by their numbers, and what one layer of each needs.
#include "perf/lab/layers/layers.h"
#include "tests/unit/perf/cli/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::layers {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr Load kLoad{.tokens = 100, .sequences = 4, .keys = 2000};

std::vector<std::string> texts(const std::vector<Problem>& problems) {
  std::vector<std::string> result;
  for (const Problem& each : problems)
    result.push_back(each.op + "." + each.dtype + "." + each.shape);
  return result;
}

TEST(Layers, OfQwen) {
  EXPECT_THAT(
      texts(layer_of(model_named("qwen2.5-0.5b"), kLoad)),
      ElementsAre("residual_rmsnorm.bf16.rows100_cols896", "gemm.bf16.m100_n1152_k896_nt_bias",
                  "rope.bf16.t100_h16_d64", "kv_append.f16.b1_t100_h2_d64_k100_page16",
                  "attention.bf16.b1_h14_kv2_q100_k100_d64_causal", "gemm.bf16.m100_n896_k896_nt",
                  "gemm.bf16.m100_n9728_k896_nt", "gated_activation.bf16.swiglu_rows100_cols4864",
                  "gemm.bf16.m100_n896_k4864_nt", "residual_rmsnorm.bf16.rows4_cols896",
                  "gemm.bf16.m4_n1152_k896_nt_bias", "rope.bf16.t4_h16_d64",
                  "kv_append.f16.b4_t1_h2_d64_k2000_page16",
                  "attention_decode.bf16.b4_h14_kv2_q1_k2000_d64_page16",
                  "gemm.bf16.m4_n896_k896_nt", "gemm.bf16.m4_n9728_k896_nt",
                  "gated_activation.bf16.swiglu_rows4_cols4864", "gemm.bf16.m4_n896_k4864_nt"));
}

// Two of eight experts see a token, so that each sees a quarter of them.
TEST(Layers, OfExperts) {
  const std::vector<std::string> all = texts(layer_of(model_named("mixtral-8x7b"), kLoad));
  for (const char* const problem :
       {"gemm.bf16.m100_n8_k4096_nt", "softmax.bf16.rows100_cols8",
        "gather.f16.i32_outer1_rows100_inner4096_count200", "gemm.bf16.m25_n28672_k4096_nt",
        "gated_activation.bf16.swiglu_rows25_cols14336", "gemm.bf16.m25_n4096_k14336_nt",
        "gemm.bf16.m1_n28672_k4096_nt"})
    EXPECT_THAT(all, Contains(problem));
  EXPECT_THAT(all, Not(Contains("gemm.bf16.m100_n28672_k4096_nt")));
}

// Biases, gelu, no rotary positions, and no more tokens than it has positions.
TEST(Layers, OfGpt2) {
  const std::vector<std::string> all =
      texts(layer_of(model_named("gpt2"), {.tokens = 2048, .sequences = 4, .keys = 4096}, "f16"));
  for (const char* const problem :
       {"layernorm.f16.rows1024_cols768", "elementwise.f16.add_n786432",
        "gemm.f16.m1024_n2304_k768_nn_bias", "gemm.f16.m1024_n3072_k768_nn_bias_gelu_tanh",
        "attention_decode.f16.b4_h12_q1_k1024_d64_page16"})
    EXPECT_THAT(all, Contains(problem));
  EXPECT_THAT(all, Not(Contains(HasSubstr("rope"))));
}

TEST(Layers, KnowsModels) {
  const Model& big = model_named("llama-3-70b");
  EXPECT_EQ(big.hidden, big.heads * big.depth);
  EXPECT_EQ(big.kv_heads, 8);
  for (const Model& model : models()) EXPECT_THAT(model.source, HasSubstr("config.json"));
  try {
    model_named("qwen2.5-05b");
    ADD_FAILURE() << "no such model";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("did you mean qwen2.5-0.5b?"), HasSubstr("gpt2")));
  }
}

TEST(Layers, FileIsRead) {
  const std::string header = "model,layers,hidden,heads,kv_heads,depth,intermediate,experts,per_"
                             "token,vocab,context,block,bias,dtype,source\n";
  const std::string row = "m,1,8,4,2,2,16,1,1,99,64,llama,none,bf16,a config.json\n";
  EXPECT_EQ(read_models(header + row, "f").at(0).context, 64);
  const auto refuses = [](const std::string& csv, const char* message) {
    try {
      read_models(csv, "f");
      ADD_FAILURE() << csv;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  };
  refuses(row, "f:1: the columns must be model,layers");
  refuses(header + row + row, "f:3: m is there twice");
  refuses(header + "m,0,8,4,2,2,16,1,1,99,64,llama,none,bf16,s\n",
          "f:2, layers: expected a whole number from 1, got '0'");
  refuses(header + "m,1,8,4,2,2,16,1,1,99,64,bert,none,bf16,s\n",
          "expected one of llama, gpt2, got 'bert'");
  refuses(header + "m,1,8,4,3,2,16,1,1,99,64,llama,none,bf16,s\n", "must divide");
  refuses(header + "m,1,8\n", "f:2: 3 fields");
}

TEST(LayersOnTheCommandLine, AreFilters) {
  cli::test::Cli cli;
  EXPECT_THAT(cli({"list", "--models"}).out, AllOf(HasSubstr("mixtral-8x7b"), HasSubstr("14336")));
  EXPECT_THAT(cli({"run", "--model", "gpt3"}).err, HasSubstr("did you mean gpt2?"));
  EXPECT_THAT(cli({"run", "--model", "gpt2", "--op", "fill"}).err,
              HasSubstr("a layer of it has no fill"));
  EXPECT_THAT(cli({"run", "--model", "gpt2"}).err, HasSubstr("no such operation"));
  EXPECT_EQ(cli({"run", "--model", "gpt2", "--shape", "n64"}).exit_code, 2);
}

} // namespace
} // namespace kg::layers
