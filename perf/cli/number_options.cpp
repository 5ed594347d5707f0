// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/number_options.h"

#include "perf/format/csv.h"

#include <fmt/format.h>
#include <optional>
#include <string>

namespace kg::cli {
namespace {

// A number above 0 and at most `most`; neither NaN nor infinity. `unit` is for the message.
CLI::Validator positive(double most, const std::string& unit) {
  return {[most, unit](const std::string& word) {
            const std::optional<double> value = judge::parse_number(word);
            return value && *value > 0 && *value <= most
                       ? std::string()
                       : fmt::format("expected {} above 0 and up to {:g}, got '{}'", unit, most,
                                     word);
          },
          "POSITIVE"};
}

} // namespace

CLI::Validator seconds() { return positive(86400, "seconds"); }
CLI::Validator minutes() { return positive(10080, "minutes"); }
CLI::Validator percent() { return positive(100, "percent"); }

} // namespace kg::cli
