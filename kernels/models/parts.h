// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of parameters as files hold them: their shapes, and the order of their elements.
#pragma once

#include "models/execution.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kg::models {

// Calls `visit` for every part of every parameter, with its first row.
void each_part(const Tape& tape,
               const std::function<void(const Parameter&, const Part&, std::int64_t row)>& visit);

std::vector<std::int64_t> shape_of(const Parameter& parameter, const Part& part);

// Rows in which one channel stands behind the other, as rows whose channels come last; and back.
std::vector<float> with_channels_last(std::span<const float> rows, std::int64_t channels,
                                      std::int64_t places);
std::vector<float> with_channels_first(std::span<const float> rows, std::int64_t channels,
                                       std::int64_t places);

// Rows of a parameter from `row` on, in a file's order. Reading: all of them.
void write_part(Execution& execution, const Parameter& parameter, std::int64_t row,
                std::span<const float> values);
std::vector<float> read_parts(const Execution& execution, const Parameter& parameter);
// What lies in memory as the parameter does, its gradient for one, in a file's order.
std::vector<float> in_file_order(const Parameter& parameter, std::vector<float> values);

} // namespace kg::models
