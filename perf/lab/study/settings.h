// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Values of settings. Each throws Error that names the setting where it has another value.
#pragma once

#include "perf/lab/study/study.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kg::study {

// Whole numbers from 1, separated by commas, none twice.
std::vector<std::int64_t> numbers(const Settings& settings, const std::string& name);
std::int64_t number(const Settings& settings, const std::string& name);

// Words separated by commas; none where the value is empty.
std::vector<std::string> words(const Settings& settings, const std::string& name);

} // namespace kg::study
