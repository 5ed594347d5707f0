// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The table that puts our error rates beside those of other tools' rules on the same samples.
#pragma once

#include "perf/format/table.h"
#include "perf/lab/selftest/calibration.h"

#include <span>
#include <string_view>

namespace kg::selftest {

// One line per rule, one column per experiment: of those in which nothing changed the share that
// was flagged all the same with its upper bound, of the others the share that was found with its
// lower bound. `rows` is the class of rows (all, from_100us, sd_to_1pct). The rows must be pooled,
// and of one device.
judge::TextTable comparison(std::span<const CalibrationRow> pooled, std::string_view rows);

} // namespace kg::selftest
