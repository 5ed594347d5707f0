// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// The conformance test Pitches: the card's `pitches` problems, whose rows have gaps. Vectorized
// access is wrong if one stride is off whole packs (16 bytes), even if all others are aligned, and
// for a row that ends within a pack, whatever the pitch.
void pitches(Judge& judge);

} // namespace kg::card
