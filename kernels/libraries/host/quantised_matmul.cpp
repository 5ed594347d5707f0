// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/quantised_matmul.h"

namespace kg::vendor {

// No host library has a product with scales per row and column.
const Table<QuantisedVariant> quantised_matmul_table = {};

} // namespace kg::vendor
