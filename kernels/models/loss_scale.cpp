// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/loss_scale.h"

#include <vector>

namespace kg::models {

LossScale::LossScale(Execution& execution, const Settings& settings)
    : execution_(execution), settings_(settings) {
  if (!execution.tape().has(kFoundInf)) return;
  const Dtype dtype = execution.tape().parameters().front().value.dtype;
  set(settings.first > 0 ? settings.first : first_scale(dtype));
}

void LossScale::set(float scale) {
  const Tape& tape = execution_.tape();
  const Tensor shares = tape.named(kLossShares);
  const auto terms = static_cast<std::size_t>(shares.size());
  const float share = scale / static_cast<float>(terms);
  execution_.write(shares, std::vector<float>(terms, share));
  execution_.write(tape.named(kLossUnscale), std::vector<float>{1 / scale});
  scale_ = scale;
  unskipped_ = 0;
}

bool LossScale::update() {
  const Tape& tape = execution_.tape();
  if (!tape.has(kFoundInf)) return true;
  const bool skipped = execution_.read_integers(tape.named(kFoundInf)).front() != 0;
  if (skipped) {
    execution_.take_back_update();
    set(scale_ * settings_.backoff);
  } else if (++unskipped_ == settings_.interval) {
    set(scale_ * settings_.growth);
  }
  return !skipped;
}

} // namespace kg::models
