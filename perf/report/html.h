// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// report.html: report.json and the page that displays it (perf/report/page/) in one file, which
// works without a network or a server.
#pragma once

#include <string>

namespace kg::report {

// `report` is the text of report.json. The page stores its long lists as columns, at a tenth of the
// size.
std::string html(const std::string& report);

} // namespace kg::report
