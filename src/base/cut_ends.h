// SPDX-License-Identifier: Apache-2.0
//
// What is left of an address, a GUID, an e-mail address or a host with its domain where a text was cut: too
// little to be known for one, enough to tell whose it is. Part of base/anonymous_names.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace unhang::base {

// Where the beginning of such a name begins that the end of `text` cut off; text.size(): there is none. Of a
// text that was cut for certain numbers count, too: "10" may be the first part of an address.
enum class CutCertainty { kByLength, kByMark };
std::size_t cut_name_begin(std::string_view text, CutCertainty certainty);

class CutEnds {
 public:
  // A text from outside, as it was kept: one that reaches the bound of such texts was cut.
  void remember(std::string_view text);

  struct Span {
    std::size_t begin = 0, end = 0;
  };
  // Of `text`, which may quote texts that are remembered, ascending; also where "…" says so itself, which is
  // part of the span. Time: linear.
  std::vector<Span> in(std::string_view text) const;

 private:
  std::unordered_set<std::string> x_last;   // the last bytes of each
  std::unordered_set<std::string> x_texts;  // and enough of it that no other text ends like this
};

}  // namespace unhang::base
