// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// No variants, for the reason given in libraries/host/rmsnorm.cpp.
#include "libraries/rmsnorm_backward.h"

namespace kg::vendor {

const Table<RmsnormBackwardVariant> rmsnorm_backward_table = {};

} // namespace kg::vendor
