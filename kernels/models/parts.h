// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of parameters as stored in files: their shapes and the order of their elements.
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

// Converts each row from channels-first to channels-last order, and back.
std::vector<float> with_channels_last(std::span<const float> rows, std::int64_t channels,
                                      std::int64_t places);
std::vector<float> with_channels_first(std::span<const float> rows, std::int64_t channels,
                                       std::int64_t places);

// Values are in file order. Writes the part that begins at `row`; reads all rows.
void write_part(Execution& execution, const Parameter& parameter, std::int64_t row,
                std::span<const float> values);
std::vector<float> read_parts(const Execution& execution, const Parameter& parameter);
// Converts values with the parameter's memory layout, such as its gradient, to file order.
std::vector<float> in_file_order(const Parameter& parameter, std::vector<float> values);

} // namespace kg::models
