// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/transformer_config.h"

#include "runtime/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::parse_transformer_config;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string kGood =
    R"({"model_type":"llama","hidden_act":"silu","vocab_size":32,"hidden_size":16,)"
    R"("intermediate_size":24,"num_hidden_layers":2,"num_attention_heads":4,)"
    R"("num_key_value_heads":2,"rms_norm_eps":1e-5,"rope_theta":1e4,"torch_dtype":"bfloat16"})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  return text.replace(text.find(from), from.size(), to);
}

void expect_refused(const std::string& text, const std::string& why) {
  EXPECT_THAT([&] { parse_transformer_config(text, "file.json"); },
              ThrowsMessage<Error>(testing::AllOf(HasSubstr("file.json"), HasSubstr(why))));
}

TEST(TransformerConfig, ReadsHuggingFacesNames) {
  const models::TransformerConfig config = parse_transformer_config(kGood, "file.json");
  EXPECT_EQ(config.vocabulary, 32);
  EXPECT_EQ(config.head_dim, 4);
  EXPECT_EQ(config.kv_heads, 2);
  EXPECT_FALSE(config.qkv_bias);
  EXPECT_FALSE(config.tied);
  EXPECT_TRUE(parse_transformer_config(with("llama", "qwen2"), "file.json").qkv_bias);
}

TEST(TransformerConfig, RefusesWhatItDoesNotDo) {
  expect_refused(with("llama", "mamba"), "mamba");
  expect_refused(with("silu", "gelu"), "hidden_act");
  expect_refused(with("\"torch_dtype\"", "\"rope_scaling\":{\"factor\":2},\"torch_dtype\""),
                 "rope_scaling");
  expect_refused(with("\"torch_dtype\"", "\"use_sliding_window\":true,\"torch_dtype\""),
                 "use_sliding_window");
}

const std::string kGpt2 =
    R"({"model_type":"gpt2","activation_function":"gelu_new","vocab_size":32,"n_embd":16,)"
    R"("n_layer":2,"n_head":4,"n_positions":64,"layer_norm_epsilon":1e-5,"resid_pdrop":0,)"
    R"("embd_pdrop":0.0,"attn_pdrop":0})";

std::string gpt2_with(const std::string& from, const std::string& to) {
  std::string text = kGpt2;
  return text.replace(text.find(from), from.size(), to);
}

TEST(TransformerConfig, ReadsGpt2sNames) {
  const models::TransformerConfig config = parse_transformer_config(kGpt2, "file.json");
  EXPECT_EQ(config.family, models::Family::gpt2);
  EXPECT_EQ(config.intermediate, 64);
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.positions, 64);
  EXPECT_TRUE(config.tied);
  EXPECT_FALSE(config.dropout);
  EXPECT_TRUE(parse_transformer_config(gpt2_with("\"resid_pdrop\":0,", ""), "file.json").dropout);
  EXPECT_TRUE(parse_transformer_config(gpt2_with(":0.0", ":0.1"), "file.json").dropout);
}

TEST(TransformerConfig, RefusesWhatGpt2DoesNotDo) {
  expect_refused(gpt2_with("gelu_new", "gelu"), "activation_function");
  expect_refused(gpt2_with("\"n_layer\"", "\"scale_attn_weights\":false,\"n_layer\""),
                 "scale_attn_weights");
  expect_refused(gpt2_with("\"n_layer\"", "\"scale_attn_by_inverse_layer_idx\":true,\"n_layer\""),
                 "scale_attn_by_inverse_layer_idx");
  expect_refused(gpt2_with("\"n_embd\":16", "\"n_embd\":18"), "must divide n_embd");
  expect_refused(gpt2_with("\"n_positions\":64,", ""), "n_positions is missing");
}

TEST(TransformerConfig, RefusesWhatCannotBe) {
  expect_refused("", "parse error");
  expect_refused(with("\"vocab_size\":32,", ""), "vocab_size is missing");
  expect_refused(with("\"vocab_size\":32", "\"vocab_size\":-1"), "vocab_size");
  expect_refused(with("\"vocab_size\":32", "\"vocab_size\":1e30"), "vocab_size");
  expect_refused(with("\"vocab_size\":32", "\"vocab_size\":32,\"vocab_size\":32"), "there twice");
  expect_refused(with("\"num_key_value_heads\":2", "\"num_key_value_heads\":3"), "must divide");
  expect_refused(with("\"hidden_size\":16", "\"hidden_size\":18"), "must divide");
  expect_refused(with("\"hidden_size\":16", "\"hidden_size\":12"), "even");
  expect_refused(with("\"rms_norm_eps\":1e-5", "\"rms_norm_eps\":0"), "above 0");
  EXPECT_THROW(models::read_transformer_config("/no/such/file.json"), Error);
}

} // namespace
} // namespace kg::test
