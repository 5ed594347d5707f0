// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// None, for the reason that libraries/host/rmsnorm.cpp gives.
#include "libraries/rmsnorm_backward.h"

namespace kg::vendor {

const Table<RmsnormBackwardVariant> rmsnorm_backward_table = {};

} // namespace kg::vendor
