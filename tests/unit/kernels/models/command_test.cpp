// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/command.h"

#include "models/safetensors.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace kg::test {
namespace {

using testing::HasSubstr;

class ModelCommand : public testing::Test {
 protected:
  int command(std::vector<std::string> arguments) {
    out_.str("");
    err_.str("");
    return perf::model_command(arguments, out_, err_);
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

 private:
  TemporaryFolder folder_;
  std::ostringstream out_, err_;
};

TEST_F(ModelCommand, RunTimesEachPhase) {
  ASSERT_EQ(command({"run", "transformer", "--batch", "1", "--sequence", "4", "--steps", "2",
                     "--runs", "1", "--json", file("times.json")}),
            0)
      << err();
  for (const char* word : {"forward", "backward", "update", "layers.1.self_attn", "attention",
                           "tokens/s", "roofline of nvidia-h200", "median of 1 runs after 1",
                           "not oversubscribed", "MiB predicted", "loss of each training step"})
    EXPECT_THAT(out(), HasSubstr(word));
  const auto times = nlohmann::json::parse(*read_file(file("times.json")));
  EXPECT_EQ(times["losses"].size(), 2U);
  EXPECT_EQ(times["memory_bytes"]["predicted"], times["memory_bytes"]["measured"]);
  EXPECT_LT(times["losses"][1], times["losses"][0]);
}

// Else a framework that leaves out the last step's gradients would be right.
TEST_F(ModelCommand, ExportsTheLossBehindTheLastStep) {
  const std::string id = "model.f32.mlp_dim8_layers2_batch4_training";
  ASSERT_EQ(command({"export", "--folder", file("out"), "--case", id + "," + id + "_steps2"}), 0)
      << err();
  const auto losses = [&](const std::string& of) {
    const std::string bytes = *read_file(file("out") + "/" + of + "/expected");
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    return floats;
  };
  const std::vector<float> one = losses(id), two = losses(id + "_steps2");
  ASSERT_EQ(one.size(), 2U);
  ASSERT_EQ(two.size(), 3U);
  EXPECT_LT(one[1], one[0]);
  EXPECT_EQ(one[1], two[1]) << "what the first of two steps leaves";
  EXPECT_LT(two[2], two[1]);
}

TEST_F(ModelCommand, ExportsATransformerForAsManySteps) {
  const std::string listed = "model.f32.transformer_reduced_batch1_sequence16_";
  ASSERT_EQ(command({"export", "--folder", file("out"), "--case", listed + "training_steps2"}), 0)
      << err();
  EXPECT_EQ(read_file(file("out") + "/" + listed + "training_steps2/expected")->size(),
            3 * sizeof(float));
  for (const char* other : {"inference_steps2", "training_steps02"})
    EXPECT_EQ(command({"export", "--folder", file("no"), "--case", listed + other}), 1) << other;
}

TEST_F(ModelCommand, RunTimesPrefillAndDecode) {
  const std::vector<std::string> call = {
      "run",    "transformer", "--sequence", "5",           "--generate",     "3",
      "--runs", "1",           "--json",     file("times"), "--save-outputs", file("outputs")};
  ASSERT_EQ(command(call), 0) << err();
  for (const char* word : {"forward ms", "decode ms", "attention_decode", "kv_append", "argmax",
                           "3 tokens generated behind each", "keys and values in caches"})
    EXPECT_THAT(out(), HasSubstr(word));
  const auto times = nlohmann::json::parse(*read_file(file("times")));
  // 2 layers, keys and values, 2 heads of 16 numbers, of 5 + 3 - 1 tokens.
  EXPECT_EQ(times["memory_bytes"]["cache"], 2 * 2 * 2 * 16 * 7 * 4);
  EXPECT_GT(times["items_per_s"], 0);
  EXPECT_GT(times["decoded_per_s"], 0);
  models::SafetensorsReader outputs(file("outputs"));
  EXPECT_EQ(outputs.integers("words").size(), 8U);
  EXPECT_EQ(command({"run", "mlp", "--generate", "3"}), 1);
  EXPECT_THAT(err(), HasSubstr("it generates nothing"));
  EXPECT_EQ(command({"run", "transformer", "--generate", "3", "--steps", "1"}), 1);
}

TEST_F(ModelCommand, RunsInSixteenBits) {
  ASSERT_EQ(command({"run", "mlp", "--dim", "16", "--layers", "2", "--batch", "8", "--dtype",
                     "bf16", "--steps", "2", "--runs", "1"}),
            0)
      << err();
  for (const char* word : {"8 samples a run, bf16", "1070.5 Tflop/s"})
    EXPECT_THAT(out(), HasSubstr(word));
  EXPECT_EQ(command({"run", "mlp", "--dtype", "f16", "--runs", "1", "--batch", "2"}), 0) << err();
  ASSERT_EQ(
      command({"run", "mlp", "--dtype", "f16", "--runs", "1", "--batch", "2", "--steps", "2"}), 0)
      << err();
  EXPECT_THAT(out(), HasSubstr("grad_norm"));
  EXPECT_EQ(command({"run", "mlp", "--dtype", "f64"}), 2);
}

TEST_F(ModelCommand, RunTimesImages) {
  ASSERT_EQ(command({"run", "resnet18", "--size", "32", "--runs", "1", "--layout", "nchw"}), 0)
      << err();
  for (const char* word : {"layer4.1", "conv2d", "images/s", "nchw"})
    EXPECT_THAT(out(), HasSubstr(word));
  ASSERT_EQ(command({"run", "resnet18", "--size", "32", "--runs", "1", "--steps", "1", "--batch",
                     "2", "--dtype", "bf16"}),
            0)
      << err();
  for (const char* word : {"conv2d_backward", "batchnorm_backward", "optimizer", "bf16"})
    EXPECT_THAT(out(), HasSubstr(word));
}

// As torchvision's files have them: running statistics, and how many batches they have seen.
TEST_F(ModelCommand, WhatTrainingLeavesIsForInference) {
  ASSERT_EQ(command({"run", "resnet18", "--size", "32", "--batch", "2", "--runs", "1", "--steps",
                     "1", "--save-weights", file("w")}),
            0)
      << err();
  models::SafetensorsReader reader(file("w"));
  std::vector<models::NamedArray> arrays = {
      {"bn1.num_batches_tracked", {1}, std::vector<std::int32_t>{1}}};
  for (const auto& [name, stored] : reader.arrays())
    arrays.push_back({name, stored.shape, reader.floats(name)});
  models::write_safetensors(file("w"), arrays);
  EXPECT_EQ(command({"run", "resnet18", "--size", "32", "--runs", "1", "--batchnorms", "running",
                     "--weights", file("w")}),
            0)
      << err();
  EXPECT_THAT(out(), HasSubstr("batchnorm"));
  EXPECT_EQ(command({"run", "resnet18", "--size", "32", "--weights", file("w")}), 1);
  EXPECT_THAT(err(), HasSubstr("conv1.bias"));
}

TEST_F(ModelCommand, StoredWeightsGiveTheSameOutputs) {
  ASSERT_EQ(command({"run", "mlp", "--batch", "4", "--dim", "8", "--layers", "2", "--runs", "1",
                     "--save-weights", file("w"), "--save-outputs", file("a")}),
            0);
  ASSERT_EQ(command({"run", "mlp", "--batch", "4", "--dim", "8", "--layers", "2", "--runs", "1",
                     "--weights", file("w"), "--save-outputs", file("b")}),
            0);
  EXPECT_EQ(command({"compare", file("a"), file("b"), "--most", "0"}), 0) << out();
  EXPECT_EQ(command({"run", "mlp", "--dim", "9", "--layers", "2", "--weights", file("w")}), 1);
  EXPECT_THAT(err(), HasSubstr("the model's is 9 x 9"));
}

TEST_F(ModelCommand, CompareFindsWhatIsTooFar) {
  using models::NamedArray;
  const auto write = [&](const char* name, std::vector<NamedArray> arrays) {
    models::write_safetensors(file(name), arrays);
  };
  const NamedArray tokens{"tokens", {2}, std::vector<std::int32_t>{1, 2}};
  write("a", {tokens, {"output", {2}, std::vector<float>{1, 2}}});
  write("near", {tokens, {"output", {2}, std::vector<float>{1, 2.00001F}}});
  write("far", {tokens, {"output", {2}, std::vector<float>{1, 2.001F}}});
  write("nan",
        {tokens, {"output", {2}, std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()}}});
  write("other", {{"tokens", {2}, std::vector<std::int32_t>{1, 3}},
                  {"output", {2}, std::vector<float>{1, 2}}});
  write("less", {tokens});
  write("shape", {tokens, {"output", {2, 1}, std::vector<float>{1, 2}}});
  EXPECT_EQ(command({"compare", file("a"), file("near")}), 0) << out() << err();
  EXPECT_EQ(command({"compare", file("a"), file("far")}), 1);
  EXPECT_THAT(out(), HasSubstr("too far"));
  EXPECT_EQ(command({"compare", file("a"), file("nan")}), 1);
  EXPECT_THAT(out(), HasSubstr("inf"));
  EXPECT_EQ(command({"compare", file("a"), file("other")}), 1);
  EXPECT_THAT(err(), HasSubstr("different inputs"));
  EXPECT_EQ(command({"compare", file("a"), file("less")}), 1);
  EXPECT_EQ(command({"compare", file("less"), file("a")}), 1);
  EXPECT_EQ(command({"compare", file("a"), file("shape")}), 1);
}

TEST_F(ModelCommand, WrongCallsAreTwo) {
  EXPECT_EQ(command({}), 2);
  EXPECT_EQ(command({"run", "perceptron"}), 2);
  EXPECT_EQ(command({"run", "mlp", "--batch", "0"}), 2);
  EXPECT_EQ(command({"compare", file("a")}), 2);
  EXPECT_EQ(command({"gate", "--case", "no such model"}), 1);
  EXPECT_EQ(command({"gate", "--runs", "0"}), 2);
  EXPECT_EQ(command({"--help"}), 0);
}

} // namespace
} // namespace kg::test
