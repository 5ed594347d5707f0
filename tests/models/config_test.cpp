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
