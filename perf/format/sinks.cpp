// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/format/sinks.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kg::judge {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD"; // U+FFFD
constexpr std::string_view kNoWidth = "&#8203;"; // separates text that GitHub would interpret

// One character and its bytes. A byte that is not part of a valid, shortest encoding (RFC 3629)
// stands alone and is invalid.
struct Character {
  std::string_view bytes;
  char32_t code = 0;
  bool valid = false;
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const Character broken{text.substr(0, 1), lead, false};
  if (lead < 0x80) return {text.substr(0, 1), lead, true};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return broken;
  char32_t code = lead & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return broken;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return broken;
  return {text.substr(0, size), code, true};
}

// Calls `add(character, rest of the text)` for each character.
template <class Add>
void each_character(std::string_view text, const Add& add) {
  while (!text.empty()) {
    const Character character = first_of(text);
    text.remove_prefix(character.bytes.size());
    add(character, text);
  }
}

// Characters that a terminal interprets (C0, DEL and C1), that change the direction of text (UAX
// #9), or that some programs take for a line end.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029 || c == 0x200E || c == 0x200F;
}

std::string visible(const Character& character) {
  if (!character.valid || character.code < 0x80)
    return fmt::format("\\x{:02x}", static_cast<std::uint32_t>(character.code));
  return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(character.code));
}

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether ':' before `rest` begins an emoji's name, as in ":tick:".
bool begins_emoji(std::string_view rest) {
  if (rest.empty() || is_digit(rest.front())) return false;
  const auto in_name = [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '+' || c == '-';
  };
  const auto end = std::find_if_not(rest.begin(), rest.end(), in_name);
  return end != rest.begin() && end != rest.end() && *end == ':';
}

// Pairs of single backquotes are code. Any other number would make the text after them code.
bool has_whole_spans(std::string_view text) {
  return std::count(text.begin(), text.end(), '`') % 2 == 0 && text.find("``") == text.npos;
}

std::size_t longest_run(std::string_view text, char of) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == of ? run + 1 : 0);
  return longest;
}

std::string cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return std::string(text.substr(0, most)) + "...";
}

} // namespace

std::string printable(std::string_view text) {
  std::string result;
  bool at_beginning = true; // of a line, ignoring blanks
  each_character(text, [&](const Character& character, std::string_view rest) {
    const char32_t c = character.code;
    if (c == '\n' || c == '\t')
      result += static_cast<char>(c);
    else if (!character.valid || is_control(c))
      result += visible(character);
    else if (at_beginning && c == ':' && rest.starts_with(':'))
      result += "\\:"; // "::error::" is a command at the beginning of a line
    else if (c == '#' && rest.starts_with("#["))
      result += "#\\"; // "##[error]" is a command anywhere
    else
      result += character.bytes;
    at_beginning = c == '\n' || (at_beginning && (c == ' ' || c == '\t'));
  });
  return result;
}

std::string for_console(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string result;
  for (const char c : printable(text)) c == '\n' ? result += "\n  | " : result += c;
  return result;
}

std::string for_markdown(std::string_view whole) {
  const std::string text = cut(whole, kMostMarkdown);
  const bool spans = has_whole_spans(text);
  std::string result;
  each_character(text, [&](const Character& character, std::string_view rest) {
    const char32_t c = character.code;
    const char next = rest.empty() ? '\0' : rest.front();
    if (c == '\n') {
      result += "<br>";
    } else if (!character.valid) {
      result += kReplacement;
    } else if (is_control(c)) {
      result += c == '\t' ? " " : "\\" + visible(character);
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '\\' || c == '*' || c == '|' || c == '~' || (c == '`' && !spans)) {
      result.append("\\").append(character.bytes);
    } else if (result.empty() &&
               (c == '#' || c == '>' || ((c == '-' || c == '+') && next == ' '))) {
      result.append("\\").append(character.bytes); // would begin a block
    } else if (c == ']' && next == '(') {
      result += "]\\"; // would be a link or an image
    } else {
      result += character.bytes;
      if ((c == '@' && is_alphanumeric(next)) || (c == '#' && is_digit(next)) ||
          (c == ':' && begins_emoji(rest)))
        result += kNoWidth;
    }
  });
  return result;
}

std::string for_markdown_code(std::string_view text) {
  std::string line = printable(cut(text, kMostMarkdown));
  std::replace(line.begin(), line.end(), '\n', ' ');
  const std::string fence(longest_run(line, '`') + 1, '`');
  const char* const pad = fence.size() > 1 ? " " : "";
  return fence + pad + line + pad + fence;
}

std::string for_markdown_block(std::string_view text, std::string_view indent) {
  const std::string lines = printable(cut(text, kMostMarkdown));
  const std::string fence(std::max<std::size_t>(3, longest_run(lines, '`') + 1), '`');
  std::string block;
  for (const char c : lines) c == '\n' ? block.append("\n").append(indent) : block += c;
  return fmt::format("\n{0}{1}text\n{0}{2}\n{0}{1}", indent, fence, block);
}

std::string for_xml(std::string_view text) {
  std::string result;
  each_character(text, [&](const Character& character, std::string_view) {
    switch (const char32_t c = character.code) {
    case '&': result += "&amp;"; break;
    case '<': result += "&lt;"; break;
    case '>': result += "&gt;"; break;
    case '"': result += "&quot;"; break;
    case '\'': result += "&#39;"; break;
    case '\n': result += "&#10;"; break;
    case '\t': result += '\t'; break;
    default:
      if (!character.valid || c == 0xFFFE || c == 0xFFFF)
        result += kReplacement;
      else if (is_control(c))
        result += visible(character);
      else
        result += character.bytes;
    }
  });
  return result;
}

std::string for_csv(std::string_view text) {
  const bool formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != text.npos;
  std::string cell(formula ? "'" : "");
  each_character(text, [&](const Character& character, std::string_view) {
    if (!character.valid)
      cell += kReplacement;
    else if (is_control(character.code) && character.code != '\n' && character.code != '\t')
      cell += visible(character);
    else
      cell += character.bytes;
  });
  return cell;
}

std::string for_annotation(std::string_view text, bool property) {
  constexpr std::size_t kMost = 4000; // GitHub truncates longer messages
  std::string result;
  each_character(cut(text, kMost), [&](const Character& character, std::string_view) {
    const char32_t c = character.code;
    if (c == '%' || c == '\n' || c == '\r' || (property && (c == ':' || c == ',')))
      result += fmt::format("%{:02X}", static_cast<unsigned>(c));
    else if (!character.valid)
      result += kReplacement;
    else if (is_control(c))
      result += visible(character);
    else
      result += character.bytes;
  });
  return result;
}

std::string for_json(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace kg::judge
