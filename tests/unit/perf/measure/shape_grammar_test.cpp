// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/card.h"
#include "tests/contract/parameters.h"
#include "tests/contract/shape_grammar.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <type_traits>

namespace kg::card {
namespace {

using testing::HasSubstr;

static_assert(!std::is_default_constructible_v<Card>, "a card declares the grammar of its shapes");
static_assert(!std::is_constructible_v<Card, std::string>, "its text alone checks no shape");

enum class Activation { none, relu, gelu, gelu_tanh };
struct Layer {
  bool transposed;
  std::int64_t heads, kv_heads, window;
  std::vector<std::int64_t> sizes;
  Activation activation;
  bool causal;
};

ShapeGrammar<Layer> grammar() {
  ShapeGrammar<Layer> g;
  g.one_of(&Layer::transposed, {{"nn", false}, {"nt", true}})
      .number("h", &Layer::heads)
      .number("kv", &Layer::kv_heads, &Layer::heads)
      .numbers("p", &Layer::sizes)
      .one_of(&Layer::activation, {{"", Activation::none},
                                   {"relu", Activation::relu},
                                   {"gelu", Activation::gelu},
                                   {"gelu_tanh", Activation::gelu_tanh}})
      .number("window", &Layer::window, 7)
      .flag("causal", &Layer::causal)
      .demand([](const Layer& l) -> std::string {
        return l.kv_heads > 0 && l.heads % l.kv_heads != 0 ? "kv must divide h" : "";
      });
  return g;
}

std::string refusal(const char* shape) {
  try {
    grammar().parse(shape);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ShapeGrammar, RefusesParametersThatContradictEachOther) {
  EXPECT_EQ(refusal("nn_h8_kv4_p1"), "no error");
  EXPECT_EQ(refusal("nn_h8_kv3_p1"), "shape 'nn_h8_kv3_p1': kv must divide h");
  struct Two {
    Layer layer;
  };
  const auto outer = ShapeGrammar<Two>().nested(grammar(), &Two::layer);
  EXPECT_THROW(outer.parse("nn_h8_kv3_p1"), Error) << "a part's demands are the whole's";
}

TEST(ShapeGrammar, GivesTheParameters) {
  const Layer all = grammar().parse("nt_h8_kv2_p3.0.5_gelu_tanh_window9_causal");
  EXPECT_TRUE(all.transposed);
  EXPECT_EQ(all.heads, 8);
  EXPECT_EQ(all.kv_heads, 2);
  EXPECT_EQ(all.sizes, (std::vector<std::int64_t>{3, 0, 5}));
  EXPECT_EQ(all.activation, Activation::gelu_tanh);
  EXPECT_EQ(all.window, 9);
  EXPECT_TRUE(all.causal);
}

TEST(ShapeGrammar, GivesWhatAShapeMayLack) {
  const Layer least = grammar().parse("nn_h8_p1");
  EXPECT_FALSE(least.transposed);
  EXPECT_EQ(least.kv_heads, 8);
  EXPECT_EQ(least.activation, Activation::none);
  EXPECT_EQ(least.window, 7);
  EXPECT_FALSE(least.causal);
}

TEST(ShapeGrammar, PrintsWhatItParses) {
  for (const char* const shape : {"nn_h8_p1", "nt_h8_kv2_p3.0.5_gelu_tanh_window9_causal",
                                  "nt_h8_p2_gelu", "nn_h1_kv0_p2_relu"})
    EXPECT_EQ(grammar().print(grammar().parse(shape)), shape);
  EXPECT_EQ(grammar().text(),
            "(nn|nt) h<number> [kv<number>] p<numbers> [relu|gelu|gelu_tanh] [window<number>] "
            "[causal]");
}

TEST(ShapeGrammar, RefusesWhatItDoesNotPrint) {
  EXPECT_THAT(refusal("h8_nn_p1"), HasSubstr("write it as nn_h8_p1"));
  EXPECT_THAT(refusal("nn_h8_kv8_p1"), HasSubstr("write it as nn_h8_p1")); // what it lacks says 8
  EXPECT_THAT(refusal("nn_h08_p1"), HasSubstr("write it as nn_h8_p1"));
  EXPECT_THAT(refusal("nn_h8_p1_causal_relu"), HasSubstr("write it as nn_h8_p1_relu_causal"));
}

TEST(ShapeGrammar, RefusesUnknownRepeatedContradictoryAndMissingWords) {
  EXPECT_THAT(refusal("nn_h8_p1_zzz"), HasSubstr("'zzz' is not a parameter"));
  EXPECT_THAT(refusal("nn_h8_p1_q4"), HasSubstr("'q4' is not a parameter"));
  EXPECT_THAT(refusal("nn_h8_p1_tanh"), HasSubstr("'tanh' is not a parameter"));
  EXPECT_THAT(refusal("nn_h8_h9_p1"), HasSubstr("gives 'h' twice"));
  EXPECT_NE(refusal("nn_h8_p1_causal_causal"), "no error");
  EXPECT_THAT(refusal("nn_nt_h8_p1"), HasSubstr("several of: nn, nt"));
  EXPECT_THAT(refusal("nn_h8_p1_relu_gelu"), HasSubstr("several of: relu, gelu"));
  EXPECT_THAT(refusal("h8_p1"), HasSubstr("none of: nn, nt"));
  EXPECT_THAT(refusal("nn_p1"), HasSubstr("lacks 'h'"));
}

enum class Rule { sgd, adam };
std::string_view name(Rule rule) { return rule == Rule::sgd ? "sgd" : "adam"; }
struct Training {
  Rule rule;
  Layer layer;
  std::int64_t step;
};

ShapeGrammar<Training> training() {
  return ShapeGrammar<Training>()
      .enumerator(&Training::rule, std::array{Rule::sgd, Rule::adam})
      .nested(ShapeGrammar<Layer>().number("h", &Layer::heads).flag("causal", &Layer::causal),
              &Training::layer)
      .number("t", &Training::step, 1, [](const Training& t) { return t.rule == Rule::adam; });
}

TEST(ShapeGrammar, NestsAnotherAndNamesEnumerators) {
  const Training adam = training().parse("adam_h8_causal_t5");
  EXPECT_EQ(adam.rule, Rule::adam);
  EXPECT_EQ(adam.layer.heads, 8);
  EXPECT_TRUE(adam.layer.causal);
  EXPECT_EQ(adam.step, 5);
  EXPECT_EQ(training().print(adam), "adam_h8_causal_t5");
  EXPECT_EQ(training().text(), "(sgd|adam) h<number> [causal] [t<number>]");
}

TEST(ShapeGrammar, NeedsANumberOrRefusesIt) {
  EXPECT_EQ(training().parse("sgd_h8").step, 1);
  EXPECT_EQ(training().print(training().parse("adam_h8_t1")), "adam_h8_t1");
  EXPECT_THROW(training().parse("adam_h8"), Error);
  EXPECT_THROW(training().parse("sgd_h8_t1"), Error);
}

TEST(Card, NamesTheGrammarsOfItsShapes) {
  EXPECT_EQ(Card(training()).grammar, "(sgd|adam) h<number> [causal] [t<number>]");
  EXPECT_EQ(Card(ShapeGrammar<std::int64_t>().number("n", std::identity()),
                 ShapeGrammar<Layer>().number("h", &Layer::heads))
                .grammar,
            "n<number>, or h<number>");
}

TEST(Parameters, AreSharedByCopiesAndKnowTheirType) {
  const Parameters some = grammar().parse("nn_h8_p1");
  const Parameters copy = some;
  EXPECT_EQ(&some.as<Layer>(), &copy.as<Layer>());
  EXPECT_EQ(copy.as<Layer>().heads, 8);
  EXPECT_THROW(some.as<Activation>(), Error);
  EXPECT_THROW(Parameters().as<Layer>(), Error);
}

} // namespace
} // namespace kg::card
