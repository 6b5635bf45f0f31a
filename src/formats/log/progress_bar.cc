// SPDX-License-Identifier: Apache-2.0
#include "formats/log/progress_bar.h"

#include "formats/log/fields.h"

namespace unhang::formats::log {

std::optional<ProgressBar> read_progress_bar(std::string_view text) {
  if (text.find('%') == text.npos) return std::nullopt;  // the fastest search of all
  // vLLM's own format has words there: "25% Completed | 1/4 [".
  std::size_t at = text.rfind("%|");
  if (at == text.npos) at = text.rfind("% Completed |");
  if (at == text.npos || at == 0) return std::nullopt;
  std::size_t from = at;
  while (from > 0 && is_digit(text[from - 1])) --from;
  const auto percent = leading_number(text.substr(from, at - from));
  if (!percent) return std::nullopt;
  ProgressBar bar;
  bar.percent = *percent;
  bar.title = trimmed(text.substr(0, from));
  if (bar.title.ends_with(':')) bar.title = trimmed(bar.title.substr(0, bar.title.size() - 1));
  // "| 1234/5000 [": behind the bar itself.
  const std::string_view rest = text.substr(at + 2);
  const std::size_t bracket = rest.rfind('[');
  const std::size_t bar_end = rest.rfind('|', bracket);
  if (bar_end == rest.npos) return bar;
  const auto done = number_at(rest.substr(bar_end + 1));
  if (!done || !done->rest.starts_with('/')) return bar;
  bar.done = done->value;
  bar.all = leading_number(done->rest.substr(1)).value_or(-1);
  return bar;
}

}  // namespace unhang::formats::log
