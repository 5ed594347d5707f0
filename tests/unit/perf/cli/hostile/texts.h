// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Texts that some sink would take for its own. Each that has words says FORGED.
#pragma once

#include <string>
#include <vector>

namespace kg::hostile {

struct Text {
  const char* what;
  std::string text;
  bool utf8 = true; // JSON cannot hold it otherwise
};

inline const std::vector<Text>& texts() {
  static const std::vector<Text> kTexts = {
      {"a verdict on a line of its own", "x\npassed: 999 pass (exit 0) FORGED"},
      {"a failure on a line of its own", "x\nFAIL: FORGED"},
      {"a heading", "x\n\n## Kernelgrade: passed FORGED\n\n"},
      {"a heading at once", "# Kernelgrade: passed FORGED"},
      {"a quotation", "> FORGED"},
      {"a carriage return", "failed\rpassed FORGED"},
      {"a backspace", "failed\b\b\b\b\b\bpassed FORGED"},
      {"colours", "\x1b[2K\x1b[32mpassed FORGED\x1b[0m"},
      {"a terminal's title", "\x1b]0;FORGED\x07"},
      {"a C1 control", "\xc2\x9b"
                       "2JFORGED"},
      {"text that runs backwards", "\xe2\x80\xae"
                                   "FORGED"},
      {"a Unicode line separator", "x\xe2\x80\xa8passed FORGED"},
      {"bytes that are not UTF-8", "\xff\xfe FORGED", false},
      {"an overlong slash", "\xc0\xaf FORGED", false},
      {"a surrogate", "\xed\xa0\x80 FORGED", false},
      {"half a character", "FORGED \xe2\x82", false},
      {"a mention", "@everyone @FORGED"},
      {"a mention by an entity", "&#64;FORGED"},
      {"a reference", "fixes #1 FORGED"},
      {"an emoji's name", ":white_check_mark: FORGED"},
      {"a comment", "<!-- FORGED"},
      {"the mark of the comment", "<!-- kernelgrade: summary --> FORGED"},
      {"the end of a comment", "--> FORGED"},
      {"an element", "<h1>FORGED</h1>"},
      {"the end of a fold", "</details></summary> FORGED"},
      {"a script", "<script>alert('FORGED')</script>"},
      {"the end of a script", "</script><h1>FORGED</h1>"},
      {"an attribute", "\" onload=\"FORGED"},
      {"the end of CDATA", "]]> FORGED"},
      {"an entity", "&xxe; FORGED"},
      {"a link", "[FORGED](https://example.com)"},
      {"a picture", "![FORGED](https://example.com/x.png)"},
      {"a table's cell", "a | FORGED | b"},
      {"a table's row", "a |\n| FORGED | pass |\n"},
      {"an open code span", "` FORGED"},
      {"a fence", "x\n```\n## FORGED\n```"},
      {"a longer fence", "x\n  `````````\n## FORGED"},
      {"bold", "**FORGED**"},
      {"struck out", "~~FAILED~~ FORGED"},
      {"a backslash", "FORGED\\"},
      {"a workflow command", "::error file=x,line=1::FORGED"},
      {"a workflow command on a line of its own", "x\n  ::set-output name=x::FORGED"},
      {"an old workflow command", "x ##[error]FORGED"},
      {"the end of a workflow command's property", "x,line=1::FORGED"},
      {"percent signs", "%0A::error::FORGED"},
      {"a formula", "=HYPERLINK(\"https://example.com\",\"FORGED\")"},
      {"a formula by a plus", "+FORGED"},
      {"a formula by a minus", "-FORGED"},
      {"a formula by an at", "@SUM(FORGED)"},
      {"a formula behind a tab", "\t=FORGED"},
      {"a quote and commas", "\",FORGED,\""},
      {"format fields", "{} %s %n {0} FORGED"},
      {"a line without an end", std::string(200000, 'x') + "FORGED"},
      {"lines without an end",
       [] {
         std::string lines;
         for (int i = 0; i < 5000; ++i) lines += "FORGED\n";
         return lines;
       }()},
      {"nothing", ""},
      {"blanks", " \t "},
  };
  return kTexts;
}

} // namespace kg::hostile
