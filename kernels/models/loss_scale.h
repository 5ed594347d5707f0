// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loss scaling: Micikevicius et al., "Mixed precision training", arXiv 1710.03740, section 3.2. A
// 16-bit model differentiates its loss times a scale, so that small gradients do not underflow in
// f16. The update removes the scale, and is skipped if a gradient is not finite. All of this stays
// on the device (training.cu). The host reads the flag once per step and sets the next scale.
#pragma once

#include "models/execution.h"

#include <cstdint>

namespace kg::models {

// The names of the tensors that the tape and the host share.
inline constexpr const char* kLossShares = "loss.shares";   // each term's share of the loss, scaled
inline constexpr const char* kLossUnscale = "loss.unscale"; // 1 / scale
inline constexpr const char* kFoundInf = "loss.found_inf";  // whether a gradient is not finite

// f16 gradients need a scale. bf16 has f32's exponent range and needs only the flag.
constexpr float first_scale(Dtype dtype) { return dtype == Dtype::f16 ? 65536.0F : 1.0F; }

class LossScale {
 public:
  struct Settings {
    float first = 0; // 0: first_scale
    float growth = 2, backoff = 0.5F;
    std::int64_t interval = 2000; // unskipped steps in a row before the scale grows
  };
  // An f32 model has no loss scale and skips no step.
  explicit LossScale(Execution& execution) : LossScale(execution, Settings{}) {}
  LossScale(Execution& execution, const Settings& settings);

  // Call after phase update; waits for the device. Returns whether the update was applied. A
  // skipped update is not counted, and multiplies the scale by `backoff`.
  bool update();
  float scale() const { return scale_; }

 private:
  void set(float scale);

  Execution& execution_;
  const Settings settings_;
  float scale_ = 1;
  std::int64_t unskipped_ = 0; // updates since the scale was set
};

} // namespace kg::models
