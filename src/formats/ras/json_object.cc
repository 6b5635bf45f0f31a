// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/json_object.h"

#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include <simdjson.h>

#include "formats/ras/json_mending.h"
#include "formats/ras/json_soundness.h"
#include "formats/ras/line_counter.h"

namespace unhang::formats::ras {

namespace ondemand = simdjson::ondemand;
using model::NcclResult;
using model::RasCommunicator;
using model::RasPresence;
using model::RasRank;
using model::Severity;

namespace {

using Error = simdjson::error_code;
constexpr std::size_t kMaxDocument = std::size_t{4} << 30;
constexpr std::size_t kMaxString = 1024;
constexpr std::size_t kMaxDevices = 1024;

// A field of the wrong type keeps its default; only broken JSON is an error.
bool fatal(Error error) {
  return error != simdjson::SUCCESS && error != simdjson::INCORRECT_TYPE && error != simdjson::NUMBER_ERROR &&
         error != simdjson::NUMBER_OUT_OF_RANGE;
}

Error only_fatal(Error error) {
  return fatal(error) ? error : simdjson::SUCCESS;
}

Error read_string(ondemand::value value, std::string& out) {
  std::string_view text;
  const Error error = value.get_string().get(text);
  if (!error) out = text.substr(0, kMaxString);
  return only_fatal(error);
}

template <class Number>
Error read_integer(ondemand::value value, Number& out) {
  std::int64_t parsed = 0;
  const Error error = value.get_int64().get(parsed);
  if (!error && std::in_range<Number>(parsed)) out = static_cast<Number>(parsed);
  return only_fatal(error);
}

Error read_bool(ondemand::value value, bool& out) {
  bool parsed = false;
  const Error error = value.get_bool().get(parsed);
  if (!error) out = parsed;
  return only_fatal(error);
}

Error read_count(ondemand::value value, std::optional<std::uint64_t>& out) {
  std::uint64_t parsed = 0;
  const Error error = value.get_uint64().get(parsed);
  if (!error) out = parsed;
  return only_fatal(error);
}

Error read_result(ondemand::value value, std::optional<NcclResult>& out) {
  std::int64_t parsed = 0;
  const Error error = value.get_int64().get(parsed);
  if (!error) {
    const bool known = parsed >= 0 && parsed <= static_cast<std::int64_t>(NcclResult::kTimeout);
    out = known ? static_cast<NcclResult>(parsed) : NcclResult::kOther;
  }
  return only_fatal(error);
}

// The key without a copy; one with an escape is none of ours and equals none.
std::string_view key_of(simdjson::simdjson_result<ondemand::field>& field) {
  ondemand::raw_json_string raw;
  if (field.key().get(raw)) return {};
  const char* const begin = raw.raw();
  const char* end = begin;
  while (*end != '"' && *end != '\\' && end - begin < 64) ++end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

template <class Visit>
Error each_field(ondemand::object object, Visit&& visit) {
  for (auto field : object) {
    ondemand::value value;
    const std::string_view key = key_of(field);
    if (const Error error = field.value().get(value)) return error;
    if (const Error error = visit(key, value)) return error;
  }
  return simdjson::SUCCESS;
}

// Each field of an object; anything else is read over.
template <class Visit>
Error each_field(ondemand::value value, Visit&& visit) {
  ondemand::object object;
  const Error error = value.get_object().get(object);
  if (error) return only_fatal(error);
  return each_field(object, visit);
}

template <class Visit>
Error each_element(ondemand::value value, Visit&& visit) {
  ondemand::array array;
  const Error not_one = value.get_array().get(array);
  if (not_one) return only_fatal(not_one);
  for (auto element : array) {
    ondemand::value item;
    if (const Error error = element.get(item)) return error;
    if (const Error error = visit(item)) return error;
  }
  return simdjson::SUCCESS;
}

Error read_devices(ondemand::value value, std::vector<std::int32_t>& out) {
  return each_element(value, [&](ondemand::value item) {
    std::int32_t device = -1;
    const Error error = read_integer(item, device);
    if (!error && out.size() < kMaxDevices) out.push_back(device);
    return error;
  });
}

}  // namespace

class JsonObjects::Parser {
 public:
  explicit Parser(Reading& reading) : x_reading(reading) {}

  void read(std::string_view text, std::uint64_t line, std::uint64_t offset) {
    x_line = line;
    x_offset = offset;
    x_taken = 0;
    // One allocation: closing what is open adds a few bytes.
    x_text.reserve(text.size() + simdjson::SIMDJSON_PADDING + 16);
    x_text.assign(text);
    const bool whole = mend_until_read();
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
  }

 private:
  static constexpr std::size_t kKeptBuffer = std::size_t{1} << 20;

  // False: it is damaged or has no end, and what could be read is there.
  bool mend_until_read() {
    Error error = read_text();
    if (error == simdjson::UTF8_ERROR) {
      replace_foreign_bytes(x_text);
      x_reading.problem(Severity::kError, "invalid_utf8", "bytes that are no UTF-8 were replaced by '?'",
                        x_line, x_offset);
      error = read_text();
    }
    if (error && add_missing_commas(x_text) > 0) {
      x_reading.problem(Severity::kInfo, "repaired",
                        "commas that NCCL 2.28.7 and 2.28.9 forget in missing_ranks were added", x_line,
                        x_offset);
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

  Error read_text() {
    x_reading.return_records(std::exchange(x_taken, 0));  // of an attempt before this one
    x_answer = model::RasAnswer();
    x_answer.is_json = true;
    x_answer.line = x_line;
    x_answer.offset = x_offset;
    x_event = model::RasEvent();
    x_event.line = x_line;
    x_is_answer = x_is_event = false;
    if (x_text.capacity() < x_text.size() + simdjson::SIMDJSON_PADDING) {
      x_text.reserve(x_text.size() + simdjson::SIMDJSON_PADDING);
    }
    x_lines.emplace(x_text.data(), x_line);
    ondemand::document document;
    if (const Error error = x_parser.iterate(x_text).get(document)) return error;
    ondemand::object object;
    if (const Error error = document.get_object().get(object)) return error;
    return each_field(object,
                      [this](std::string_view key, ondemand::value value) { return root_field(key, value); });
  }

  Error root_field(std::string_view key, ondemand::value value) {
    if (key == "communicators") {
      x_is_answer = true;
      return each_element(value, [this](ondemand::value item) { return communicator(item); });
    }
    if (key == "nccl_version") {
      x_is_answer = true;
      return read_string(value, x_answer.nccl_version);
    }
    if (key == "cuda_runtime_version") return number_text(value, x_answer.cuda_runtime);
    if (key == "cuda_driver_version") return number_text(value, x_answer.cuda_driver);
    if (key == "timestamp") return read_string(value, x_answer.timestamp);
    if (key == "ras") {
      return each_field(value, [this](std::string_view name, ondemand::value item) {
        return collection_field(name, item);
      });
    }
    return event_field(key, value);
  }

  Error event_field(std::string_view key, ondemand::value value) {
    if (key == "event") {
      x_is_event = true;
      return read_string(value, x_event.event);
    }
    if (key == "group") {
      std::string group;
      const Error error = read_string(value, group);
      x_event.lifecycle = group == "LIFECYCLE";
      return error;
    }
    if (key == "details") return read_string(value, x_event.details);
    if (key != "peer") return simdjson::SUCCESS;
    return each_field(value, [this](std::string_view name, ondemand::value item) -> Error {
      if (name == "host") return read_string(item, x_event.host);
      if (name == "pid") return read_integer(item, x_event.pid);
      if (name == "addr") return read_string(item, x_event.address);
      if (name == "cuda_devs") return read_devices(item, x_event.cuda_devices);
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
    if (key == "timeouts_count") return read_integer(value, x_answer.timeouts);
    if (key != "collection_time_sec") return simdjson::SUCCESS;
    double seconds = 0;
    const Error error = value.get_double().get(seconds);
    if (!error) x_answer.collection_seconds = seconds;
    return only_fatal(error);
  }

  Error communicator(ondemand::value value) {
    RasCommunicator out;
    const Error error = each_field(value, [&](std::string_view key, ondemand::value item) -> Error {
      if (out.line == 0) out.line = x_lines->line_of(key.data());
      if (key == "ranks") return ranks(item, out, false);
      if (key == "missing_ranks") return ranks(item, out, true);
      if (key == "hash") return hash(item, out.hash);
      if (key == "secondary_hash") return read_string(item, out.secondary_hash);
      if (key == "size") return read_integer(item, out.size);
      return simdjson::SUCCESS;
    });
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

  Error ranks(ondemand::value value, RasCommunicator& out, bool missing) {
    return each_element(value, [&](ondemand::value item) {
      RasRank one;
      bool unresponsive = false;
      bool dead = false;
      const Error error = each_field(item, [&](std::string_view key, ondemand::value field) -> Error {
        if (key != "status") return rank_field(key, field, one);
        return each_field(field, [&](std::string_view name, ondemand::value flag) -> Error {
          if (!missing) return status_field(name, flag, one);
          if (name == "unresponsive") return read_bool(flag, unresponsive);
          if (name == "considered_dead") return read_bool(flag, dead);
          return simdjson::SUCCESS;
        });
      });
      if (error) return error;
      if (missing) {
        one.presence = dead           ? RasPresence::kDead
                       : unresponsive ? RasPresence::kUnresponsive
                                      : RasPresence::kNoCommunicator;
      }
      if (take_record(out.line)) out.ranks.push_back(std::move(one));
      return simdjson::SUCCESS;
    });
  }

  static Error rank_field(std::string_view key, ondemand::value value, RasRank& rank) {
    if (key == "rank") return read_integer(value, rank.rank);
    if (key == "pid") return read_integer(value, rank.pid);
    if (key == "cuda_dev") return read_integer(value, rank.cuda_device);
    if (key == "nvml_dev") return read_integer(value, rank.nvml_device);
    if (key == "host") {
      const Error error = read_string(value, rank.host);
      if (rank.host == "unknown") rank.host.clear();
      return error;
    }
    if (key != "collective_counts") return simdjson::SUCCESS;
    return each_field(value, [&](std::string_view name, ondemand::value count) -> Error {
      if (name == "AllReduce") return read_count(count, rank.counts[4]);
      if (name == "ReduceScatter") return read_count(count, rank.counts[3]);
      if (name == "AllGather") return read_count(count, rank.counts[2]);
      if (name == "Reduce") return read_count(count, rank.counts[1]);
      if (name == "Broadcast") return read_count(count, rank.counts[0]);
      return simdjson::SUCCESS;
    });
  }

  static Error status_field(std::string_view key, ondemand::value value, RasRank& rank) {
    if (key == "init_state") return read_result(value, rank.init_state);
    if (key == "async_error") return read_result(value, rank.async_error);
    if (key == "finalize_called") return read_bool(value, rank.finalize_called);
    if (key == "destroy_flag") return read_bool(value, rank.destroy_flag);
    if (key == "abort_flag") return read_bool(value, rank.abort_flag);
    return simdjson::SUCCESS;
  }

  void keep_event() {
    x_event.timestamp = std::move(x_answer.timestamp);
    if (take_record(x_line)) x_reading.evidence().ras_events.push_back(std::move(x_event));
  }

  Reading& x_reading;
  ondemand::parser x_parser{kMaxDocument};
  std::string x_text;
  std::optional<LineCounter> x_lines;
  std::uint64_t x_line = 0, x_offset = 0, x_taken = 0;
  model::RasAnswer x_answer;
  model::RasEvent x_event;
  bool x_is_answer = false, x_is_event = false;
};

JsonObjects::JsonObjects(Reading& reading) : x_parser(std::make_unique<Parser>(reading)) {}

JsonObjects::~JsonObjects() = default;

void JsonObjects::read(std::string_view text, std::uint64_t line, std::uint64_t offset) {
  x_parser->read(text, line, offset);
}

}  // namespace unhang::formats::ras
