// Patterns for names of modules: names, globs, regular expressions.
#include <string>

#include <gtest/gtest.h>

#include "readers/name_pattern.hpp"

namespace tokenroof::readers {
namespace {

bool matches(std::string_view pattern, std::string_view name) {
  MatchBudget budget;
  return NamePattern::parse(pattern).value().matches(name, budget);
}

TEST(NamePattern, NamesStandForModulesAndWhatIsWithin) {
  EXPECT_TRUE(matches("lm_head", "lm_head"));
  EXPECT_TRUE(matches("gate", "model.layers.0.mlp.gate"));
  EXPECT_TRUE(matches("model.layers.0.self_attn", "model.layers.0.self_attn.q_proj"));
  EXPECT_TRUE(matches("self_attn", "model.layers.0.self_attn.q_proj"));
  EXPECT_FALSE(matches("gate", "model.layers.0.mlp.gate_proj"));
  EXPECT_FALSE(matches("model.layers.1", "model.layers.11.mlp.gate"));
  EXPECT_FALSE(matches("head", "lm_head"));
}

TEST(NamePattern, GlobsStandForWholeNames) {
  EXPECT_TRUE(matches("model.layers.*.self_attn", "model.layers.7.self_attn.q_proj"));
  EXPECT_TRUE(matches("*lm_head", "language_model.lm_head"));
  EXPECT_TRUE(matches("model.layers.1*", "model.layers.12.mlp.up_proj"));
  EXPECT_FALSE(matches("*.attn.*", "model.layers.0.self_attn.q_proj"));
  EXPECT_FALSE(matches("mtp*", "model.layers.0.mlp"));
  EXPECT_FALSE(matches("layers.*", "model.layers.0"));
}

TEST(NamePattern, ExpressionsMatchTheBeginning) {
  EXPECT_TRUE(matches("re:.*self_attn.*", "model.layers.0.self_attn.q_proj"));
  EXPECT_TRUE(matches("re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "model.layers.3.mlp.gate_up_proj"));
  EXPECT_FALSE(matches("re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "model.layers.3.mlp.experts.0.up_proj"));
  EXPECT_TRUE(matches("re:.*\\.mlp\\.gate$", "model.layers.3.mlp.gate"));
  EXPECT_FALSE(matches("re:.*\\.mlp\\.gate$", "model.layers.3.mlp.gate_proj"));
  EXPECT_TRUE(matches("re:model", "model.layers"));
  EXPECT_FALSE(matches("re:layers", "model.layers"));
  EXPECT_TRUE(matches("re:^model\\.layers\\.[0-3]\\.", "model.layers.2.mlp"));
  EXPECT_TRUE(matches("re:model\\.layers\\.\\d+\\.mlp", "model.layers.12.mlp"));
  EXPECT_FALSE(matches("re:model\\.layers\\.[^0-9]", "model.layers.2"));
  EXPECT_TRUE(matches("re:(?:a|b)+?c?", "ab"));
}

TEST(NamePattern, WhatIsNotUnderstoodIsSaid) {
  for (const char* text : {"", "re:(?!vision).*", "re:a{2}", "re:(a", "re:a)", "re:[a", "re:\\b", "re:\\", "re:*"}) {
    EXPECT_FALSE(NamePattern::parse(text)) << text;
  }
  EXPECT_FALSE(NamePattern::parse(std::string(NamePattern::most_bytes + 1, 'a')));
  EXPECT_FALSE(NamePattern::parse("re:" + std::string(500, '(') + std::string(500, ')')));
}

TEST(NamePattern, HostileExpressionsTakeLinearTime) {
  std::string nested = "a";
  for (int i = 0; i < 30; ++i) {
    nested = "(" + nested + ")+";
  }
  const auto pattern = NamePattern::parse("re:" + nested + "b").value();
  MatchBudget budget;
  EXPECT_FALSE(pattern.matches(std::string(1000, 'a'), budget));
  EXPECT_GT(budget.steps, MatchBudget{}.steps - 1'000'000);
}

TEST(NamePattern, StopsWhereTheBudgetEnds) {
  MatchBudget budget{.steps = 20};
  EXPECT_FALSE(NamePattern::parse("re:.*z").value().matches(std::string(100, 'y'), budget));
  EXPECT_EQ(budget.steps, 0U);
}

} // namespace
} // namespace tokenroof::readers
