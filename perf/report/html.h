// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// report.html: report.json and the page that shows it (perf/report/page/) in one file, which a
// browser opens without a network and without a server.
#pragma once

#include <string>

namespace kg::report {

// `report` is the text of report.json. The page holds its long lists as columns, which take a
// tenth.
std::string html(const std::string& report);

} // namespace kg::report
