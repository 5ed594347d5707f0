// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Values of settings. Each function throws Error, naming the setting, for an invalid value.
#pragma once

#include "perf/lab/study/study.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kg::study {

// Whole numbers from 1, separated by commas, no duplicates.
std::vector<std::int64_t> numbers(const Settings& settings, const std::string& name);
std::int64_t number(const Settings& settings, const std::string& name);

// Words separated by commas; an empty value has none.
std::vector<std::string> words(const Settings& settings, const std::string& name);

} // namespace kg::study
