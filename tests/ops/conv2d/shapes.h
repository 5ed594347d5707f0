// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The fields of a conv2d shape: the geometry of one convolution or, after "separable", of two
// (separable.h); otherwise also the tiles of implicit_gemm, and whether there is a bias.
#pragma once

#include "ops/conv2d/conv2d.h"
#include "tests/ops/conv2d/convolutions.h"

namespace kg::card {

struct Convolution {
  bool separable;
  conv2d::Geometry geometry; // a separable one's first, with the second's out_channels
  conv2d::MmaTiles tiles;
  bool biased;
};
inline ShapeGrammar<Convolution> conv2d_grammar(bool separable) {
  using conv2d::MmaTiles;
  ShapeGrammar<Convolution> g;
  if (separable) g.one_of(&Convolution::separable, {{"separable", true}});
  g.nested(test::geometry_grammar(!separable), &Convolution::geometry);
  if (separable) return g;
  return g
      .one_of(&Convolution::tiles,
              {{"", MmaTiles::automatic}, {"narrow", MmaTiles::narrow}, {"wide", MmaTiles::wide}})
      .one_of(&Convolution::biased, {{"", true}, {"nobias", false}});
}

} // namespace kg::card
