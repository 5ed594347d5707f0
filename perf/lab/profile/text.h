// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Profiles as text and as JSON.
#pragma once

#include "perf/lab/profile/profile.h"

#include <map>
#include <span>
#include <string>

namespace kg::profile {

inline constexpr int kProfileSchema = 1;

// One row: how its time is divided, and its kernels, copies and fills.
std::string plain_text(const RowProfile& row);

// The longest kernels across rows.
std::string plain_text(std::span<const Part> top);

std::string json(std::span<const RowProfile> rows, std::span<const Part> top,
                 const std::map<std::string, std::string>& environment);

} // namespace kg::profile
