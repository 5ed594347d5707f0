// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The graphs that the wrappers hand to cuDNN, as far as it goes without a device: it is told a
// GPU's properties, checks each graph, and ranks the engines that it has for it. It loads none.
#include "libraries/cuda/cudnn_attention.h"
#include "libraries/cuda/cudnn_attention_graphs.h"
#include "libraries/cuda/cudnn_norm_graphs.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace kg::vendor::cudnn {
namespace {

// As cuDNN prints them of an H200, and of a T4, which is too old for its attention.
std::shared_ptr<frontend::DeviceProperties> device(int version, int multiprocessors,
                                                   int shared_bytes) {
  const nlohmann::json properties = {{"cudaDeviceId", 0},
                                     {"deviceName", "GPU"},
                                     {"deviceVer", version},
                                     {"driverVer", 13000},
                                     {"isTccDriver", 0},
                                     {"l2CacheSize", 62914560},
                                     {"maxBlockSize", {1024, 1024, 64}},
                                     {"maxCtasPerSM", 32},
                                     {"maxGridSize", {2147483647, 65535, 65535}},
                                     {"maxRegistersPerSM", 65536},
                                     {"maxSharedMemoryPerBlock", 49152},
                                     {"maxSharedMemoryPerBlockOptin", shared_bytes},
                                     {"maxThreadsPerBlock", 1024},
                                     {"maxThreadsPerSM", 2048},
                                     {"memClockRateKHz", 3201000},
                                     {"multiProcessorCount", multiprocessors},
                                     {"pciDeviceId", 0},
                                     {"regsPerBlock", 65536},
                                     {"reservedSharedMemoryPerBlock", 1024},
                                     {"smClockRateKHz", 1980000},
                                     {"supportCoopLaunch", 1},
                                     {"totalGlobalMem", 150000000000},
                                     {"warpSize", 32}};
  const std::string text = properties.dump();
  auto result = std::make_shared<frontend::DeviceProperties>();
  auto status = result->deserialize({text.begin(), text.end()});
  EXPECT_TRUE(status.is_good()) << status.get_message();
  return result;
}
std::shared_ptr<frontend::DeviceProperties> h200() { return device(900, 132, 232448); }
std::shared_ptr<frontend::DeviceProperties> t4() { return device(750, 40, 65536); }

} // namespace
} // namespace kg::vendor::cudnn

// In place of the runtime's, which cudnn-frontend asks for the device that it checks graphs for.
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  properties->major = 9;
  return cudaSuccess;
}

namespace kg::vendor::cudnn {
namespace {

// How many engines it ranks; a graph that is wrong fails.
std::int64_t engines(const std::shared_ptr<Graph>& graph,
                     const std::shared_ptr<frontend::DeviceProperties>& device) {
  graph->set_device_properties(device);
  for (auto status : {graph->validate(), graph->build_operation_graph()})
    EXPECT_TRUE(status.is_good()) << status.get_message();
  return graph->create_execution_plans({frontend::HeurMode_t::A}).is_good()
             ? graph->get_execution_plan_count()
             : 0;
}

AttentionProblem problem() {
  return {.dtype = Dtype::bf16,
          .scale = 0.125F,
          .batch = 2,
          .heads = 4,
          .kv_heads = 2,
          .queries = 70,
          .keys = 130,
          .depth = 64,
          .value_depth = 64};
}
AttentionProblem causal(std::int64_t window = 0) {
  AttentionProblem p = problem();
  p.causal = true;
  p.window = window;
  return p;
}
AttentionProblem ragged(bool causal) {
  AttentionProblem p = problem();
  p.order = TokenOrder::ragged;
  p.tokens = 123;
  p.causal = causal;
  return p;
}

std::vector<std::pair<std::string, AttentionProblem>> problems() {
  std::vector<std::pair<std::string, AttentionProblem>> result = {{"plain", problem()},
                                                                  {"causal", causal()},
                                                                  {"window", causal(32)},
                                                                  {"ragged", ragged(false)},
                                                                  {"ragged causal", ragged(true)}};
  AttentionProblem p = problem();
  p.order = TokenOrder::tokens_first;
  result.emplace_back("tokens first", p);
  p = causal();
  p.lengths = true;
  result.emplace_back("lengths", p);
  p = problem();
  p.bias = true;
  p.queries = 19;
  p.keys = 65;
  p.depth = 80;
  p.value_depth = 40;
  result.emplace_back("bias, depths of 80 and 40", p);
  p = problem();
  p.heads = p.kv_heads = 1;
  p.depth = p.value_depth = 256;
  result.emplace_back("a depth of 256", p);
  p = causal(4096);
  p.batch = 1;
  p.heads = 32;
  p.kv_heads = 8;
  p.queries = p.keys = 8192;
  p.depth = p.value_depth = 128;
  result.emplace_back("Mistral-7B", p);
  p = causal();
  p.dtype = Dtype::f16;
  p.kv_heads = p.heads;
  p.depth = 192;
  p.value_depth = 128;
  result.emplace_back("depths of 192 and 128", p);
  return result;
}

TEST(CudnnGraphs, CudnnHasEnginesForAttentionOnAnH200) {
  for (const auto& [name, p] : problems()) {
    EXPECT_TRUE(attention_supported(p)) << name;
    EXPECT_GT(engines(attention_graph(p), h200()), 0) << name;
    EXPECT_GT(engines(attention_backward_graph(p), h200()), 0) << name;
  }
}

TEST(CudnnGraphs, TheyMaskWhatTheProblemMasks) {
  AttentionProblem p = causal(32);
  p.lengths = true;
  for (const auto& [all, none] :
       {std::pair{attention_graph(p), attention_graph(problem())},
        std::pair{attention_backward_graph(p), attention_backward_graph(problem())}}) {
    const auto masked = nlohmann::json::parse(all->print())["nodes"][0];
    EXPECT_EQ(masked["diagonal_alignment"], "BOTTOM_RIGHT") << "the last query sees all keys";
    EXPECT_EQ(masked["right_bound"], 0);
    EXPECT_EQ(masked["left_bound"], 32) << "of the keys up to its own";
    EXPECT_EQ(masked["padding_mask"], true);
    EXPECT_EQ(masked["attn_scale_value"], "3E000000") << "0.125";
    const auto plain = nlohmann::json::parse(none->print())["nodes"][0];
    EXPECT_TRUE(plain["right_bound"].is_null() && plain["left_bound"].is_null());
    EXPECT_EQ(plain["padding_mask"], false);
  }
}

TEST(CudnnGraphs, RaggedRowsFollowEachOther) {
  const auto tensors = nlohmann::json::parse(attention_graph(ragged(false))->print())["tensors"];
  const std::vector<std::int64_t> out = {70 * 4 * 64, 64, 4 * 64, 1},
                                  log_sum = {4 * 123, 123, 1, 1};
  EXPECT_EQ(tensors["::O"]["stride"], out) << "tokens before heads";
  EXPECT_EQ(tensors["::Stats"]["stride"], log_sum) << "heads before the tokens of all sequences";
}

TEST(CudnnGraphs, CudnnHasEnginesForNorms) {
  using normalization::Kind;
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
    for (const Kind norm : {Kind::layer, Kind::rms})
      for (const bool training : {false, true}) {
        const NormShape shape{norm, dtype, 512, 1024, training, 1e-5F};
        EXPECT_GT(engines(norm_forward_graph(shape), h200()), 0) << name(dtype) << training;
        EXPECT_GT(engines(norm_backward_graph(shape), h200()), 0) << name(dtype);
      }
}

TEST(CudnnGraphs, AnOldDeviceHasNone) {
  EXPECT_EQ(engines(attention_graph(problem()), t4()), 0);
  EXPECT_EQ(engines(attention_backward_graph(problem()), t4()), 0);
}

TEST(CudnnGraphs, WhatAttentionDoesNotTakeIsNoVariant) {
  AttentionProblem p = problem();
  p.depth = 62;
  EXPECT_FALSE(attention_supported(p));
  EXPECT_EQ(attention_graph(p)->validate().get_code(), frontend::error_code_t::GRAPH_NOT_SUPPORTED);
  p = problem();
  p.dtype = Dtype::f32;
  EXPECT_FALSE(attention_supported(p));
}

} // namespace
} // namespace kg::vendor::cudnn
