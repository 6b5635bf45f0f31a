// SPDX-License-Identifier: Apache-2.0
#include "os/decompress_source.h"

#include <new>

namespace unhang::os {
namespace {

constexpr std::size_t kOutBytes = 256 << 10;
constexpr std::size_t kStreamHeadBytes = 16;  // enough for content_kind() to know any of the four

// zstd data may go on with a skippable frame, which on its own says nothing about what it belongs to.
bool goes_on(ContentKind kind, std::string_view bytes) {
  if (content_kind(bytes) == kind) return true;
  return kind == ContentKind::kZstd && bytes.size() >= 8 &&
         (static_cast<unsigned char>(bytes[0]) & 0xf0) == 0x50 && bytes.substr(1, 3) == "\x2a\x4d\x18";
}

}  // namespace

DecompressSource::DecompressSource(ByteSource& upstream, ContentKind kind, ReadBudget& budget)
    : x_upstream(upstream), x_kind(kind), x_budget(budget) {}

std::string_view DecompressSource::pull() {
  try {
    while (!x_done) {
      if (x_in.empty() && !x_input_ended) refill();
      if (const std::size_t produced = advance(); produced > 0) return {x_out.get(), produced};
    }
  } catch (const std::bad_alloc&) {
    end_with("too_large", "not enough memory to unpack it");
  }
  return {};
}

std::size_t DecompressSource::advance() {
  if (!x_codec) {
    x_out = std::make_unique_for_overwrite<char[]>(kOutBytes);
    x_codec = make_codec(x_kind);
  }
  const Codec::Step step = x_codec->step(x_in, x_out.get(), kOutBytes);
  x_in.remove_prefix(step.consumed);
  x_consumed += step.consumed;
  x_produced += step.produced;
  const bool stuck = step.produced == 0 && step.consumed == 0;
  if (step.state == Codec::State::kBroken) {
    end_with("corrupt_archive", step.why);
  } else if (step.state == Codec::State::kStreamEnd) {
    finish_streams();
  } else if (stuck && x_input_ended && x_in.empty()) {
    end_with("corrupt_archive", "the file is cut off");
  } else if (stuck && !x_in.empty()) {
    end_with("corrupt_archive", "the data make no sense");
  }
  auto over = x_budget.judge_ratio(x_produced, x_consumed);
  if (auto spent = x_budget.charge(step.produced)) over = std::move(spent);
  if (!over) return step.produced;
  x_done = true;
  set_stop(*std::move(over));
  return 0;
}

void DecompressSource::refill() {
  x_in = x_upstream.next();
  x_input_ended = x_in.empty();
}

void DecompressSource::finish_streams() {
  if (another_stream()) {
    x_codec->restart();
    return;
  }
  x_done = true;
  if (x_upstream.stop()) {
    end_with("corrupt_archive", "");
  } else if (x_in.find_first_not_of('\0') !=
             std::string_view::npos) {  // zeros are padding, usual on tapes and in xz
    set_stop({"corrupt_archive", "something else follows the " + std::string(kind_name(x_kind)) +
                                     " data from byte " + std::to_string(x_consumed) +
                                     " on; it was left out"});
  }
}

bool DecompressSource::another_stream() {
  if (x_in.size() < kStreamHeadBytes && !x_input_ended) {
    std::string joined(x_in);
    while (joined.size() < kStreamHeadBytes && !x_input_ended) {
      const std::string_view block = x_upstream.next();
      x_input_ended = block.empty();
      joined.append(block);
    }
    x_joined.swap(joined);
    x_in = x_joined;
  }
  return goes_on(x_kind, x_in);
}

void DecompressSource::end_with(const char* code, const std::string& text) {
  x_done = true;
  if (x_upstream.stop()) {  // the layer below knows better why
    set_stop(*x_upstream.stop());
    return;
  }
  set_stop({code, "damaged " + std::string(kind_name(x_kind)) + " data near byte " +
                      std::to_string(x_consumed) + ": " + text});
}

}  // namespace unhang::os
