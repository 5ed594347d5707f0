// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/spec.h"

#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::perf {
namespace {

// The depth in a resnet's name; 0 for other models.
int depth_of(const std::string& name) {
  return name.starts_with("resnet") ? std::stoi(name.substr(6)) : 0;
}

models::Model made_for_images(const Spec& spec, models::Purpose purpose) {
  const models::ImageConfig config{.batch = spec.batch,
                                   .size = spec.size,
                                   .layout = spec.layout,
                                   .batchnorms = spec.batchnorms,
                                   .dtype = spec.dtype};
  const int depth = depth_of(spec.name);
  return depth == 0 ? models::alexnet(config, purpose) : models::resnet(depth, config, purpose);
}

} // namespace

bool takes_images(const Spec& spec) { return spec.name == "alexnet" || depth_of(spec.name) > 0; }

models::Model made(const Spec& spec) {
  require(spec.generate == 0 || spec.name == "transformer", spec.name + ": it generates nothing");
  require(spec.generate == 0 || !spec.training,
          "--steps trains and --generate does not; leave one of them out");
  const auto purpose = spec.training ? models::Purpose::training : models::Purpose::inference;
  if (takes_images(spec)) return made_for_images(spec, purpose);
  if (spec.name == "mlp") {
    models::MlpConfig config = spec.mlp;
    config.batch = spec.batch;
    config.dtype = spec.dtype;
    return models::mlp(config, purpose);
  }
  require(spec.name == "transformer", spec.name + ": no such model");
  models::TransformerConfig config = models::read_transformer_config(spec.config);
  config.dtype = spec.dtype;
  if (spec.generate > 0)
    return models::generator(config, {spec.batch, spec.sequence, spec.generate}).model;
  return models::transformer(config, spec.batch, spec.sequence, purpose);
}

std::string about(const Spec& spec) {
  if (spec.name == "mlp")
    return fmt::format(" (dim {}, {} layers, batch {})", spec.mlp.dim, spec.mlp.layers, spec.batch);
  if (takes_images(spec))
    return fmt::format(" (batch {}, {} x {}, {})", spec.batch, spec.size, spec.size,
                       kg::name(spec.layout));
  const std::string file = spec.config.filename().string();
  if (spec.generate > 0)
    return fmt::format(" ({}, {} prompts of {}, {} tokens generated behind each)", file, spec.batch,
                       spec.sequence, spec.generate);
  return fmt::format(" ({}, batch {}, sequence {})", file, spec.batch, spec.sequence);
}

std::string case_id(const Spec& spec) {
  const char* const purpose = spec.training ? "training" : "inference";
  std::string id = fmt::format("model.{}.{}", kg::name(spec.dtype), spec.name);
  if (spec.name == "mlp") {
    id += fmt::format("_dim{}_layers{}_batch{}_{}", spec.mlp.dim, spec.mlp.layers, spec.batch,
                      purpose);
  } else if (takes_images(spec)) {
    id +=
        fmt::format("_batch{}_size{}_{}_{}", spec.batch, spec.size, kg::name(spec.layout), purpose);
  } else {
    id += fmt::format("_{}_batch{}_sequence{}_", spec.config.stem().string(), spec.batch,
                      spec.sequence);
    id += spec.generate > 0 ? fmt::format("generate{}", spec.generate) : purpose;
  }
  if (spec.training && spec.steps > 1) id += fmt::format("_steps{}", spec.steps);
  std::replace(id.begin(), id.end(), '-', '_'); // ids must not contain '-'
  return id;
}

} // namespace kg::perf
