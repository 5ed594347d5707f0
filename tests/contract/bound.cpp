// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/bound.h"

namespace kg {

std::string_view name(Bound kind) {
  switch (kind) {
  case Bound::memory: return "memory";
  case Bound::compute: return "compute";
  case Bound::sync: return "sync";
  case Bound::launch: return "launch";
  }
  return "";
}

} // namespace kg
