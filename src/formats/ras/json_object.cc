// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/json_object.h"

#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/ras/json_mending.h"
#include "formats/ras/json_pieces.h"
#include "formats/ras/json_soundness.h"
#include "formats/ras/json_values.h"
#include "formats/ras/line_counter.h"

namespace unhang::formats::ras {

using model::RasCommunicator;
using model::RasPresence;
using model::RasRank;
using model::Severity;

class JsonObjects::Parser {
 public:
  explicit Parser(Reading& reading) : x_reading(reading) {}

  void read(const ObjectSpan& object, std::uint64_t line, std::uint64_t offset) {
    x_line = line;
    x_offset = offset;
    x_taken = 0;
    const bool whole = read_pieces(object) || mend_until_read(object.text);
    if (x_is_event) {
      if (whole) keep_event();
    } else if (x_is_answer) {
      x_answer.complete = whole;
      judge(x_answer, x_reading);
      x_reading.evidence().ras_answers.push_back(std::move(x_answer));
    } else {
      x_reading.problem(Severity::kInfo, "foreign_json", "JSON that is not of the RAS service was read over",
                        line, offset);
    }
    x_answer = model::RasAnswer();
    if (x_text.capacity() > kKeptBuffer) x_text = std::string();
    if (x_padded.capacity() > kKeptBuffer) x_padded = std::string();
  }

 private:
  static constexpr std::size_t kKeptBuffer = std::size_t{1} << 20;

  // One communicator at a time. False: it must be read as a whole.
  bool read_pieces(const ObjectSpan& span) {
    const auto pieces = cut_into_pieces(span);
    if (!pieces) return false;
    bool mended = false;
    begin_attempt();
    for (const JsonPieces::Piece& piece : pieces->communicators) {
      const std::uint64_t line = x_line + piece.lines;
      const std::size_t before = x_answer.communicators.size();
      Error error = read_communicator(piece.text, room_behind(span.text, piece.text), line);
      if (!error) continue;
      x_text.assign(piece.text);
      if (add_missing_commas(x_text) > 0) {
        mended = true;
        x_answer.communicators.resize(before);  // without the half of it
        error = read_communicator(x_text, 0, line);
      }
      if (error) return false;
    }
    if (read_root(pieces->around, 0, x_line, [this](ondemand::object object) { return root(object); }))
      return false;
    if (mended) note_mended();
    return true;
  }

  static std::size_t room_behind(std::string_view whole, std::string_view piece) {
    return static_cast<std::size_t>(whole.data() + whole.size() - (piece.data() + piece.size()));
  }

  Error read_communicator(std::string_view text, std::size_t room, std::uint64_t line) {
    return read_root(text, room, line, [this](ondemand::object object) { return communicator(object); });
  }

  void note_mended() {
    x_reading.problem(Severity::kInfo, "repaired",
                      "commas that NCCL 2.28.7 and 2.28.9 forget in missing_ranks were added", x_line,
                      x_offset);
  }

  // False: it is damaged or has no end, and what could be read is there.
  bool mend_until_read(std::string_view text) {
    // One allocation: closing what is open adds a few bytes.
    x_text.reserve(text.size() + simdjson::SIMDJSON_PADDING + 16);
    x_text.assign(text);
    Error error = read_text();
    if (error == simdjson::UTF8_ERROR) {
      replace_foreign_bytes(x_text);
      x_reading.problem(Severity::kError, "invalid_utf8", "bytes that are no UTF-8 were replaced by '?'",
                        x_line, x_offset);
      error = read_text();
    }
    if (error && add_missing_commas(x_text) > 0) {
      note_mended();
      error = read_text();
    }
    if (!error) return true;
    if (close_open_end(x_text)) {
      static_cast<void>(read_text());
      x_reading.problem(
          Severity::kDataLoss, "truncated",
          "an answer ends in the middle: the connection was closed, or the time was up; the whole "
          "ranks and communicators before are used",
          x_line, x_offset);
    } else {
      x_reading.problem(Severity::kDataLoss, "damaged",
                        std::string("the JSON is damaged: ") + simdjson::error_message(error), x_line,
                        x_offset);
    }
    return false;
  }

  bool take_record(std::uint64_t line) {
    const bool taken = x_reading.take_record(line);
    x_taken += taken ? 1 : 0;
    return taken;
  }

  void begin_attempt() {
    x_reading.return_records(std::exchange(x_taken, 0));  // of an attempt before this one
    x_answer = model::RasAnswer();
    x_answer.is_json = true;
    x_answer.line = x_line;
    x_answer.offset = x_offset;
    x_event = model::RasEvent();
    x_event.line = x_line;
    x_is_answer = x_is_event = false;
  }

  Error read_text() {
    begin_attempt();
    return read_root(x_text, x_text.capacity() - x_text.size(), x_line,
                     [this](ondemand::object object) { return root(object); });
  }

  // Parses `text`, which begins on this line of the file. The parser looks a little beyond the end of a text:
  // it is copied where fewer bytes than that may be read behind it.
  template <class Visit>
  Error read_root(std::string_view text, std::size_t room, std::uint64_t line, Visit&& visit) {
    if (room < simdjson::SIMDJSON_PADDING) {
      x_padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
      x_padded.assign(text);
      text = x_padded;
    }
    x_lines.emplace(text.data(), line);
    ondemand::document document;
    const simdjson::padded_string_view padded(text, text.size() + simdjson::SIMDJSON_PADDING);
    if (const Error error = x_parser.iterate(padded).get(document)) return error;
    ondemand::object object;
    if (const Error error = document.get_object().get(object)) return error;
    if (const Error error = visit(object)) return error;
    const char* more = nullptr;
    return document.current_location().get(more) ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
  }

  Error root(ondemand::object object) {
    return each_field(object,
                      [this](std::string_view key, ondemand::value value) { return root_field(key, value); });
  }

  Error root_field(std::string_view key, ondemand::value value) {
    if (is(key, "communicators")) {
      x_is_answer = true;
      return each_element(value, [this](ondemand::value item) -> Error {
        ondemand::object object;
        const Error error = item.get_object().get(object);
        return error ? only_fatal(error) : communicator(object);
      });
    }
    if (is(key, "nccl_version")) {
      x_is_answer = true;
      return read_string(value, x_answer.nccl_version);
    }
    if (is(key, "cuda_runtime_version")) return number_text(value, x_answer.cuda_runtime);
    if (is(key, "cuda_driver_version")) return number_text(value, x_answer.cuda_driver);
    if (is(key, "timestamp")) return read_string(value, x_answer.timestamp);
    if (is(key, "ras")) {
      return each_field(value, [this](std::string_view name, ondemand::value item) {
        return collection_field(name, item);
      });
    }
    return event_field(key, value);
  }

  Error event_field(std::string_view key, ondemand::value value) {
    if (is(key, "event")) {
      x_is_event = true;
      return read_string(value, x_event.event);
    }
    if (is(key, "group")) {
      std::string group;
      const Error error = read_string(value, group);
      x_event.lifecycle = group == "LIFECYCLE";
      return error;
    }
    if (is(key, "details")) return read_string(value, x_event.details);
    if (!is(key, "peer")) return simdjson::SUCCESS;
    return each_field(value, [this](std::string_view name, ondemand::value item) -> Error {
      if (is(name, "host")) return read_string(item, x_event.host);
      if (is(name, "pid")) return read_integer(item, x_event.pid);
      if (is(name, "addr")) return read_string(item, x_event.address);
      if (is(name, "cuda_devs")) return read_devices(item, x_event.cuda_devices);
      return simdjson::SUCCESS;
    });
  }

  Error number_text(ondemand::value value, std::string& out) {
    std::int64_t number = -1;
    if (const Error error = read_integer(value, number)) return error;
    if (number < 0) return read_string(value, out);
    out = std::to_string(number);
    return simdjson::SUCCESS;
  }

  Error collection_field(std::string_view key, ondemand::value value) {
    if (is(key, "timeouts_count")) return read_integer(value, x_answer.timeouts);
    if (!is(key, "collection_time_sec")) return simdjson::SUCCESS;
    double seconds = 0;
    const Error error = value.get_double().get(seconds);
    if (!error) x_answer.collection_seconds = seconds;
    return only_fatal(error);
  }

  Error communicator(ondemand::object object) {
    RasCommunicator out;
    x_ranks.clear();
    const Error error = each_field(object, [&](std::string_view key, ondemand::value item) -> Error {
      if (out.line == 0) out.line = x_lines->line_of(key.data());
      if (is(key, "ranks")) return ranks(item, out.line, false);
      if (is(key, "missing_ranks")) return ranks(item, out.line, true);
      if (is(key, "hash")) return hash(item, out.hash);
      if (is(key, "secondary_hash")) return read_string(item, out.secondary_hash);
      if (is(key, "size")) return read_integer(item, out.size);
      return simdjson::SUCCESS;
    });
    out.ranks.assign(std::make_move_iterator(x_ranks.begin()), std::make_move_iterator(x_ranks.end()));
    // Also the half of one in damaged JSON: its ranks are whole.
    if (take_record(out.line)) x_answer.communicators.push_back(std::move(out));
    return error;
  }

  // "0x634a4b09acc8e46", without leading zeros.
  static Error hash(ondemand::value value, std::uint64_t& out) {
    std::string_view text;
    const Error error = value.get_string().get(text);
    if (!error) {
      if (text.starts_with("0x")) text.remove_prefix(2);
      std::uint64_t parsed = 0;
      const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), parsed, 16);
      if (bad == std::errc() && end == text.data() + text.size()) out = parsed;
    }
    return only_fatal(error);
  }

  Error ranks(ondemand::value value, std::uint64_t line, bool missing) {
    return each_element(value, [&](ondemand::value item) {
      RasRank one;
      bool unresponsive = false;
      bool dead = false;
      const Error error = each_field(item, [&](std::string_view key, ondemand::value field) -> Error {
        if (!is(key, "status")) return rank_field(key, field, one);
        return each_field(field, [&](std::string_view name, ondemand::value flag) -> Error {
          if (!missing) return status_field(name, flag, one);
          if (is(name, "unresponsive")) return read_bool(flag, unresponsive);
          if (is(name, "considered_dead")) return read_bool(flag, dead);
          return simdjson::SUCCESS;
        });
      });
      if (error) return error;
      if (missing) {
        one.presence = dead           ? RasPresence::kDead
                       : unresponsive ? RasPresence::kUnresponsive
                                      : RasPresence::kNoCommunicator;
      }
      if (take_record(line)) x_ranks.push_back(std::move(one));
      return simdjson::SUCCESS;
    });
  }

  static Error rank_field(std::string_view key, ondemand::value value, RasRank& rank) {
    if (is(key, "rank")) return read_integer(value, rank.rank);
    if (is(key, "pid")) return read_integer(value, rank.pid);
    if (is(key, "cuda_dev")) return read_integer(value, rank.cuda_device);
    if (is(key, "nvml_dev")) return read_integer(value, rank.nvml_device);
    if (is(key, "host")) {
      const Error error = read_string(value, rank.host);
      if (rank.host == "unknown") rank.host.clear();
      return error;
    }
    if (!is(key, "collective_counts")) return simdjson::SUCCESS;
    return each_field(value, [&](std::string_view name, ondemand::value count) -> Error {
      if (is(name, "AllReduce")) return read_count(count, rank.counts[4]);
      if (is(name, "ReduceScatter")) return read_count(count, rank.counts[3]);
      if (is(name, "AllGather")) return read_count(count, rank.counts[2]);
      if (is(name, "Reduce")) return read_count(count, rank.counts[1]);
      if (is(name, "Broadcast")) return read_count(count, rank.counts[0]);
      return simdjson::SUCCESS;
    });
  }

  static Error status_field(std::string_view key, ondemand::value value, RasRank& rank) {
    if (is(key, "init_state")) return read_result(value, rank.init_state);
    if (is(key, "async_error")) return read_result(value, rank.async_error);
    if (is(key, "finalize_called")) return read_bool(value, rank.finalize_called);
    if (is(key, "destroy_flag")) return read_bool(value, rank.destroy_flag);
    if (is(key, "abort_flag")) return read_bool(value, rank.abort_flag);
    return simdjson::SUCCESS;
  }

  void keep_event() {
    x_event.timestamp = std::move(x_answer.timestamp);
    if (take_record(x_line)) x_reading.evidence().ras_events.push_back(std::move(x_event));
  }

  Reading& x_reading;
  ondemand::parser x_parser{kMaxDocument};
  std::string x_text;    // what is being mended
  std::string x_padded;  // with room behind it for the parser
  std::optional<LineCounter> x_lines;
  std::vector<RasRank> x_ranks;  // of the communicator that is being read; its room is used again
  std::uint64_t x_line = 0, x_offset = 0, x_taken = 0;
  model::RasAnswer x_answer;
  model::RasEvent x_event;
  bool x_is_answer = false, x_is_event = false;
};

JsonObjects::JsonObjects(Reading& reading) : x_parser(std::make_unique<Parser>(reading)) {}

JsonObjects::~JsonObjects() = default;

void JsonObjects::read(const ObjectSpan& object, std::uint64_t line, std::uint64_t offset) {
  x_parser->read(object, line, offset);
}

}  // namespace unhang::formats::ras
