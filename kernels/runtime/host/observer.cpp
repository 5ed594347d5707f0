// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/observer.h"

namespace kg::host {

constinit Observer* observer = nullptr;

} // namespace kg::host
