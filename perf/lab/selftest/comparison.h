// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The table that compares our error rates with other tools' rules on the same samples.
#pragma once

#include "perf/format/table.h"
#include "perf/lab/selftest/calibration.h"

#include <span>
#include <string_view>

namespace kg::selftest {

// One line per rule, one column per experiment. If nothing changed: the share that was flagged,
// with its upper bound. Otherwise: the share that was detected, with its lower bound. `rows` is the
// class of rows (all, from_100us, sd_to_1pct). The rows must be pooled and from one device.
judge::TextTable comparison(std::span<const CalibrationRow> pooled, std::string_view rows);

} // namespace kg::selftest
