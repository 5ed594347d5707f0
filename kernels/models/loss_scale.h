// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loss scaling: Micikevicius et al., "Mixed precision training", arXiv 1710.03740, section 3.2. The
// gradients of a model of 16 bits are those of its loss times a scale, so that small ones are not
// lost among f16's subnormals; its update takes the scale back, and is skipped where one of them is
// not finite. All of that stays on the device (training.cu). The host looks once a step, and sets
// the scale of the next one.
#pragma once

#include "models/execution.h"

#include <cstdint>

namespace kg::models {

// The names of what the tape and the host share.
inline constexpr const char* kLossShares = "loss.shares";   // each term's share of the loss, scaled
inline constexpr const char* kLossUnscale = "loss.unscale"; // 1 / scale
inline constexpr const char* kFoundInf = "loss.found_inf";  // whether a gradient is not finite

// f16's gradients want a scale; bf16 has f32's exponents, and needs the flag alone.
constexpr float first_scale(Dtype dtype) { return dtype == Dtype::f16 ? 65536.0F : 1.0F; }

class LossScale {
 public:
  struct Settings {
    float first = 0; // 0: first_scale
    float growth = 2, backoff = 0.5F;
    std::int64_t interval = 2000; // steps without a skipped one, after which it grows
  };
  // Of a model of f32 there is nothing to scale, and no step is skipped.
  explicit LossScale(Execution& execution) : LossScale(execution, Settings{}) {}
  LossScale(Execution& execution, const Settings& settings);

  // After the phase update: whether it was made. One that was skipped counts as none, and halves
  // the scale. Waits for the device.
  bool look();
  float scale() const { return scale_; }

 private:
  void set(float scale);

  Execution& execution_;
  const Settings settings_;
  float scale_ = 1;
  std::int64_t unskipped_ = 0; // since the scale was set
};

} // namespace kg::models
