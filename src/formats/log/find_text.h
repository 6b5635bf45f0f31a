// SPDX-License-Identifier: Apache-2.0
//
// string_view::find() for the short texts that messages are known by. The standard one stops at every place
// of the first byte, of which a line of a log has many; this one looks at sixteen places at once for those
// where the last byte fits as well.
#pragma once

#include <cstddef>
#include <string_view>

#ifdef __SSE2__
#include <bit>
#include <cstring>

#include <emmintrin.h>
#endif

namespace unhang::formats::log {

// Where `words` stands first in `text`; npos: nowhere. Never reads outside of either.
inline std::size_t find_text(std::string_view text, std::string_view words) {
#ifdef __SSE2__
  constexpr std::size_t kPlaces = 16;
  const std::size_t length = words.size();
  if (length == 0 || text.size() < length + kPlaces - 1) return text.find(words);
  const std::size_t last_place = text.size() - length;
  const __m128i first = _mm_set1_epi8(words.front()), last = _mm_set1_epi8(words.back());
  for (std::size_t at = 0;;) {
    const char* const here = text.data() + at;
    const __m128i fits = _mm_and_si128(
        _mm_cmpeq_epi8(first, _mm_loadu_si128(reinterpret_cast<const __m128i*>(here))),
        _mm_cmpeq_epi8(last, _mm_loadu_si128(reinterpret_cast<const __m128i*>(here + length - 1))));
    for (auto places = static_cast<unsigned>(_mm_movemask_epi8(fits)); places != 0; places &= places - 1) {
      const auto place = static_cast<std::size_t>(std::countr_zero(places));
      if (std::memcmp(here + place, words.data(), length) == 0) return at + place;
    }
    if (at + kPlaces > last_place) return std::string_view::npos;
    at += kPlaces;
    // The last sixteen overlap those before them.
    if (at + kPlaces - 1 > last_place) at = last_place - (kPlaces - 1);
  }
#else
  return text.find(words);
#endif
}

}  // namespace unhang::formats::log
