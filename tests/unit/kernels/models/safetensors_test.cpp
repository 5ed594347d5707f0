// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/safetensors.h"

#include "models/initial_values.h"
#include "models/model.h"
#include "models/weights.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace kg::test {
namespace {

using models::NamedArray;
using models::SafetensorsReader;
using testing::HasSubstr;
using testing::ThrowsMessage;

// A file of this header and so many bytes of data.
std::string file_of(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + header + std::string(data_bytes, '\1');
}

class Safetensors : public testing::Test {
 protected:
  void expect_refused(const std::string& contents, const std::string& why) {
    write_file(path(), contents);
    EXPECT_THAT([&] { SafetensorsReader reader(path()); }, ThrowsMessage<Error>(HasSubstr(why)))
        << contents;
  }
  std::filesystem::path path() const { return folder_.path() / "x.safetensors"; }

 private:
  TemporaryFolder folder_;
};

TEST_F(Safetensors, WhatWasWrittenIsRead) {
  const std::vector<NamedArray> arrays = {
      {"b", {2, 3}, std::vector<float>{1, -2, 3.5F, 0, 5, 6}},
      {"a \"quoted\" \n name", {2}, std::vector<std::int32_t>{7, -8}},
      {"none", {0, 4}, std::vector<float>{}},
      {"number", {}, std::vector<float>{9}}};
  write_safetensors(path(), arrays);
  SafetensorsReader reader(path());
  ASSERT_EQ(reader.arrays().size(), 4U);
  EXPECT_EQ(reader.array("b").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(reader.floats("b"), std::get<0>(arrays[0].values));
  EXPECT_EQ(reader.integers(arrays[1].name), std::get<1>(arrays[1].values));
  EXPECT_TRUE(reader.floats("none").empty());
  EXPECT_EQ(reader.floats("number"), std::vector<float>{9});
  EXPECT_THROW(reader.floats(arrays[1].name), Error);
  EXPECT_THROW(reader.integers("b"), Error);
  EXPECT_THROW(reader.floats("c"), Error);
}

TEST_F(Safetensors, ReadsWhatOthersWrite) {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"h":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]}}   )";
  std::string file = file_of(header, 0);
  for (const std::uint16_t bits : {0x3C00, 0x8001, 0x7C00, 0xC248, 0x3F80, 0xC000}) {
    file += static_cast<char>(bits & 0xFF);
    file += static_cast<char>(bits >> 8);
  }
  write_file(path(), file);
  SafetensorsReader reader(path());
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(reader.floats("h"), (std::vector<float>{1, -0x1p-24F, kInfinity, -3.140625F}));
  EXPECT_EQ(reader.floats("b"), (std::vector<float>{1, -2}));
}

TEST_F(Safetensors, RefusesWhatIsNoSuchFile) {
  EXPECT_THROW(SafetensorsReader reader(path()), Error); // there is none
  expect_refused("", "8 bytes");
  expect_refused("1234567", "8 bytes");
  expect_refused(std::string(8, '\xFF'), "header should have 18446744073709551615 bytes");
  expect_refused(file_of("{}", 0).substr(0, 9), "or cut");
  expect_refused(file_of("[]", 0), "no JSON object");
  expect_refused(file_of("{\"a\":", 0), "parse error");
  expect_refused(file_of("{\"a\":\"\xFF\"}", 0), "parse error");
  expect_refused(file_of(std::string(100'000, '['), 0), "too deep");
}

TEST_F(Safetensors, RefusesArraysThatCannotBe) {
  const auto array = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return R"({"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  const auto one = [&](const std::string& text, std::size_t bytes) {
    return file_of("{\"a\":" + text + "}", bytes);
  };
  expect_refused(one("3", 0), "must have dtype");
  expect_refused(one(R"({"dtype":"F32","shape":[1]})", 4), "must have dtype");
  expect_refused(one(array("\"F31\"", "[1]", "[0,4]"), 4), "unknown dtype");
  expect_refused(one(array("32", "[1]", "[0,4]"), 4), "not text");
  expect_refused(one(array("\"F32\"", "[-1]", "[0,4]"), 4), "whole number");
  expect_refused(one(array("\"F32\"", "[1.5]", "[0,4]"), 4), "whole number");
  expect_refused(one(array("\"F32\"", "1", "[0,4]"), 4), "not a list");
  expect_refused(one(array("\"F32\"", "[18446744073709551615]", "[0,4]"), 4), "whole number");
  expect_refused(one(array("\"F32\"", "[4294967296,4294967296]", "[0,4]"), 4), "more elements");
  expect_refused(one(array("\"F32\"", "[2]", "[0,4]"), 4), "not what its shape");
  expect_refused(one(array("\"F32\"", "[1]", "[4,0]"), 4), "before it begins");
  expect_refused(one(array("\"F32\"", "[1]", "[0,4,8]"), 4), "two data_offsets");
  expect_refused(one(array("\"F32\"", "[2]", "[0,8]"), 4), "ends at byte 8");
  expect_refused(one(array("\"F32\"", "[1]", "[4,8]"), 8), "before array \"a\"");
  expect_refused(one(array("\"F32\"", "[1]", "[0,4]"), 8), "after the last");
  const std::string first = array("\"F32\"", "[2]", "[0,8]");
  expect_refused(file_of("{\"a\":" + first + ",\"a\":" + first + "}", 8), "there twice");
  expect_refused(
      file_of("{\"a\":" + first + ",\"b\":" + array("\"F32\"", "[2]", "[4,12]") + "}", 12),
      "overlaps");
}

TEST_F(Safetensors, RefusesToWriteTwoOfOneName) {
  const NamedArray a{"a", {1}, std::vector<float>{1}};
  EXPECT_THROW(write_safetensors(path(), std::vector{a, a}), Error);
  EXPECT_THROW(write_safetensors(path(), std::vector{NamedArray{"a", {2}, a.values}}), Error);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

models::Model reduced(std::int64_t hidden) {
  return models::transformer({.vocabulary = 11,
                              .hidden = hidden,
                              .intermediate = 6,
                              .layers = 1,
                              .heads = 2,
                              .kv_heads = 1,
                              .head_dim = 4,
                              .epsilon = 1e-6F,
                              .theta = 100,
                              .qkv_bias = true,
                              .tied = true},
                             1, 3, models::Purpose::inference);
}

TEST_F(Safetensors, AModelsWeightsComeBack) {
  Stream stream;
  models::Execution first(reduced(8).tape, stream), second(reduced(8).tape, stream);
  models::initialise(first, 3);
  save_weights(first, path());
  load_weights(second, path());
  for (const models::Parameter& each : first.tape().parameters())
    EXPECT_EQ(first.read(each.value), second.read(each.value)) << each.parts.front().name;
  EXPECT_EQ(SafetensorsReader(path()).array("model.layers.0.self_attn.k_proj.weight").shape,
            (std::vector<std::int64_t>{4, 8}));
}

// As openai-community/gpt2 has them: no "transformer." before its names, matrices by inputs, and
// the masks of attention beside the weights.
TEST_F(Safetensors, WeightsOfGpt2LoadAsItsOwnFileHasThem) {
  const auto gpt2 = [] {
    return models::transformer({.family = models::Family::gpt2,
                                .vocabulary = 11,
                                .hidden = 8,
                                .intermediate = 6,
                                .layers = 1,
                                .heads = 2,
                                .kv_heads = 2,
                                .head_dim = 4,
                                .epsilon = 1e-5F,
                                .qkv_bias = true,
                                .tied = true,
                                .positions = 4},
                               1, 3, models::Purpose::inference);
  };
  Stream stream;
  models::Execution first(gpt2().tape, stream), second(gpt2().tape, stream);
  models::initialise(first, 3);
  save_weights(first, path());
  SafetensorsReader reader(path());
  const auto shape = [&](const char* name) { return reader.array(name).shape; };
  EXPECT_EQ(shape("transformer.h.0.attn.c_attn.weight"), (std::vector<std::int64_t>{8, 24}));
  EXPECT_EQ(shape("transformer.h.0.mlp.c_fc.weight"), (std::vector<std::int64_t>{8, 6}));
  EXPECT_EQ(shape("transformer.wpe.weight"), (std::vector<std::int64_t>{4, 8}));
  std::vector<NamedArray> arrays = {{"h.0.attn.bias", {1, 1, 4, 4}, std::vector<float>(16, 1)}};
  for (const auto& [name, stored] : reader.arrays())
    arrays.push_back(
        {name.substr(std::string("transformer.").size()), stored.shape, reader.floats(name)});
  write_safetensors(path(), arrays);
  load_weights(second, path());
  for (const models::Parameter& each : first.tape().parameters())
    EXPECT_EQ(first.read(each.value), second.read(each.value)) << each.parts.front().name;
}

TEST_F(Safetensors, WeightsOfAnotherModelAreRefused) {
  Stream stream;
  models::Execution model(reduced(8).tape, stream), wider(reduced(16).tape, stream);
  models::initialise(model, 3);
  save_weights(model, path());
  EXPECT_THAT([&] { load_weights(wider, path()); }, ThrowsMessage<Error>(HasSubstr("11 x 16")));

  SafetensorsReader reader(path());
  std::vector<NamedArray> arrays;
  for (const auto& [name, stored] : reader.arrays())
    arrays.push_back({name, stored.shape, reader.floats(name)});
  arrays.push_back({"extra", {1}, std::vector<float>{1}});
  write_safetensors(path(), arrays);
  EXPECT_THAT([&] { load_weights(model, path()); }, ThrowsMessage<Error>(HasSubstr("\"extra\"")));
  arrays.erase(arrays.begin(), arrays.begin() + 1);
  write_safetensors(path(), arrays);
  EXPECT_THAT([&] { load_weights(model, path()); }, ThrowsMessage<Error>(HasSubstr("no array")));
}

// Written down, as computed in Python, so that a change of the generator cannot go unnoticed:
// weights are the same on every machine.
TEST(InitialValues, AreAlwaysTheSame) {
  const std::vector<float> values = models::uniform(7, "layers.0.weight", 3, 1, 0.5);
  EXPECT_EQ(values, (std::vector<float>{0x1.e8cd16p-1F, 0x1.41c9b2p-1F, 0x1.42fd9cp+0F}));
  EXPECT_NE(values, models::uniform(8, "layers.0.weight", 3, 1, 0.5));
  EXPECT_NE(values, models::uniform(7, "layers.1.weight", 3, 1, 0.5));
  double sum = 0, squares = 0;
  for (const float each : models::uniform(1, "x", 100'000, 0, 1)) {
    sum += static_cast<double>(each);
    squares += static_cast<double>(each) * static_cast<double>(each);
  }
  EXPECT_NEAR(sum / 1e5, 0, 4 * std::sqrt(1.0 / 3 / 1e5));
  EXPECT_NEAR(squares / 1e5, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / 1e5));
}

} // namespace
} // namespace kg::test
