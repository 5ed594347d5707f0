// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/identity/code_hashes.h"
#include "perf/code/identity/row_identity.h"

namespace kg::identity {

std::string this_programs_identity(const std::string& op,
                                   const std::vector<LaunchRecord>& launches) {
  return row_identity(launches, [&](const std::string&) {
    const auto at = code_hashes().find(op);
    return at == code_hashes().end() ? std::string() : at->second;
  });
}

} // namespace kg::identity
