// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/identity/library_identity.h"

#include <algorithm>

namespace kg::identity {

std::string library_identity(std::string_view variant,
                             const std::vector<vendor::Library>& libraries) {
  const std::string_view name = variant.substr(0, variant.find('_'));
  const auto at =
      std::find_if(libraries.begin(), libraries.end(),
                   [&](const vendor::Library& library) { return library.name == name; });
  return at == libraries.end() ? "" : at->name + " " + at->version;
}

} // namespace kg::identity
