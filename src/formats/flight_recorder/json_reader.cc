// SPDX-License-Identifier: Apache-2.0
//
// The JSON variant of a dump (the HTTP handlers' and _dump_fr_trace_json's). The same keys as the pickle; no
// frames, pg_status as strings, process_group as an array, unknown times 0. The only file that includes
// simdjson.
#include <charconv>
#include <optional>
#include <string>

#include <simdjson.h>

#include "formats/flight_recorder/dump_builder.h"
#include "formats/flight_recorder/fields.h"
#include "formats/flight_recorder/flight_recorder.h"
#include "formats/flight_recorder/json_ending.h"

namespace unhang::formats::flight_recorder {
namespace {

namespace ondemand = simdjson::ondemand;
using model::Severity;
using model::SymbolId;

class JsonReader {
 public:
  JsonReader(std::string_view bytes, Evidence& evidence) : x_bytes(bytes), x_evidence(evidence) {}

  void read() {
    Error error = read_text(x_bytes);
    std::string repaired;
    if (error == simdjson::UTF8_ERROR) {
      // One damaged byte, in a name most likely, must not cost all entries.
      repaired = x_bytes;
      for (char& c : repaired) {
        if (static_cast<unsigned char>(c) >= 0x80) c = '?';
      }
      x_evidence.problems.push_back(
          {Severity::kError, "invalid_utf8", "bytes that are no UTF-8 were replaced by '?'", {}, 0});
      x_bytes = repaired;
      x_builder = DumpBuilder();
      error = read_text(x_bytes);
    }
    const bool complete = !error;
    if (error) {
      report(error);
      // The parser refuses a text without its end before it hands out the first entry.
      if (const std::string whole = closed_prefix(x_bytes); !whole.empty()) {
        x_builder = DumpBuilder();
        static_cast<void>(read_text(whole));  // what stopped it is reported above
      }
    }
    if (x_builder.is_dump()) {
      // This form leaves the key out where there are no entries.
      if (complete) x_builder.set_has_entries();
      x_evidence.dumps.push_back(x_builder.finish(complete, true));
    } else if (complete) {
      x_evidence.problems.push_back(
          {Severity::kInfo, "foreign_json", "JSON, but not a Flight Recorder dump; ignored", {}, 0});
    }
  }

 private:
  static constexpr std::size_t kMaxDocument = std::size_t{4} << 30;
  using Error = simdjson::error_code;

  Error read_text(std::string_view text) {
    const simdjson::padded_string padded(text);
    ondemand::parser parser(kMaxDocument);
    ondemand::document document;
    x_failed_at.reset();
    // Where it went wrong is known only of a document that could be begun.
    if (const Error unreadable = parser.iterate(padded).get(document)) return unreadable;
    const Error error = read_root(document);
    const char* at = nullptr;
    if (error && !document.current_location().get(at) && at >= padded.data() &&
        at <= padded.data() + padded.size()) {
      x_failed_at = static_cast<std::uint64_t>(at - padded.data());
    }
    return error;
  }

  void report(Error error) {
    const bool cut = is_cut(x_bytes);
    x_evidence.problems.push_back(
        {.severity = Severity::kDataLoss,
         .code = cut ? "truncated" : "damaged",
         .text = cut ? "the file ends in the middle: its writer was killed, or it was copied while being "
                       "written; what was read before that is used"
                     : std::string("the JSON is damaged: ") + simdjson::error_message(error),
         .offset = cut ? std::optional<std::uint64_t>(x_bytes.size()) : x_failed_at,
         .bytes_lost = cut || !x_failed_at ? 0 : x_bytes.size() - *x_failed_at});
  }

  SymbolId intern(std::string_view text) {
    return x_builder.vocabulary().symbols.intern(text.substr(0, kMaxString));
  }

  // A field of the wrong type keeps its default; only broken JSON is an error.
  static bool fatal(Error error) {
    return error != simdjson::SUCCESS && error != simdjson::INCORRECT_TYPE &&
           error != simdjson::NUMBER_ERROR && error != simdjson::NUMBER_OUT_OF_RANGE;
  }

  Error string(ondemand::value value, SymbolId& out) {
    std::string_view text;
    const Error error = value.get_string().get(text);
    if (!error) out = intern(text);
    return fatal(error) ? error : simdjson::SUCCESS;
  }

  // Numbers, and numbers written as strings (pg_status).
  Error number(ondemand::value value, std::int64_t& out) {
    ondemand::json_type type;
    if (const Error error = value.type().get(type)) return error;
    if (type == ondemand::json_type::string) {
      std::string_view text;
      if (const Error error = value.get_string().get(text)) return error;
      std::from_chars(text.data(), text.data() + text.size(), out);
      return simdjson::SUCCESS;
    }
    if (type != ondemand::json_type::number) return skip(value);
    std::int64_t parsed = 0;
    const Error error = value.get_int64().get(parsed);
    if (!error) out = parsed;
    return fatal(error) ? error : simdjson::SUCCESS;
  }

  Error boolean(ondemand::value value, bool& out) {
    const Error error = value.get_bool().get(out);
    return fatal(error) ? error : simdjson::SUCCESS;
  }

  Error skip(ondemand::value value) {
    std::string_view raw;
    return simdjson::to_json_string(value).get(raw);
  }

  // Each element of an array; anything else is read over.
  template <class Visit>
  Error each_element(ondemand::value value, Visit&& visit) {
    ondemand::json_type type;
    if (const Error error = value.type().get(type)) return error;
    if (type != ondemand::json_type::array) return skip(value);
    ondemand::array array;
    if (const Error error = value.get_array().get(array)) return error;
    for (auto element : array) {
      ondemand::value item;
      if (const Error error = element.get(item)) return error;
      if (const Error error = visit(item)) return error;
    }
    return simdjson::SUCCESS;
  }

  template <class Visit>
  Error each_field(ondemand::object object, Visit&& visit) {
    for (auto field : object) {
      std::string_view key;
      if (const Error error = field.unescaped_key().get(key)) return error;
      ondemand::value value;
      if (const Error error = field.value().get(value)) return error;
      if (const Error error = visit(key, value)) return error;
    }
    return simdjson::SUCCESS;
  }

  template <class Visit>
  Error each_field(ondemand::value value, Visit&& visit) {
    ondemand::json_type type;
    if (const Error error = value.type().get(type)) return error;
    if (type != ondemand::json_type::object) return skip(value);
    ondemand::object object;
    if (const Error error = value.get_object().get(object)) return error;
    return each_field(object, visit);
  }

  Error read_root(ondemand::document& document) {
    ondemand::json_type type;
    if (const Error error = document.type().get(type)) return error;
    if (type == ondemand::json_type::array) {
      ondemand::value value;
      if (const Error error = document.get_value().get(value)) return error;
      return each_element(value, [this](ondemand::value entry) { return read_entry(entry); });
    }
    ondemand::object object;
    if (const Error error = document.get_object().get(object)) return error;
    return each_field(object,
                      [this](std::string_view key, ondemand::value value) { return root_field(key, value); });
  }

  Error root_field(std::string_view key, ondemand::value value) {
    std::string_view text;
    Error error = simdjson::SUCCESS;
    switch (field_of(key)) {
      case Field::kEntries:
        x_builder.set_has_entries();
        return each_element(value, [this](ondemand::value entry) { return read_entry(entry); });
      case Field::kPgConfig:
        return each_field(
            value, [this](std::string_view name, ondemand::value group) { return read_group(name, group); });
      case Field::kPgStatus:
        return each_field(
            value, [this](std::string_view id, ondemand::value status) { return read_status(id, status); });
      case Field::kVersion:
        error = value.get_string().get(text);
        if (!error) x_builder.set_version(text);
        return fatal(error) ? error : simdjson::SUCCESS;
      case Field::kCommLibVersion:
        error = value.get_string().get(text);
        if (!error) x_builder.set_comm_library_version(text);
        return fatal(error) ? error : simdjson::SUCCESS;
      default:
        return skip(value);
    }
  }

  Error read_group(std::string_view name, ondemand::value value) {
    SymbolId group = intern(name);
    SymbolId description = 0;
    SymbolId ranks = 0;
    const Error error = each_field(value, [&](std::string_view key, ondemand::value item) {
      switch (field_of(key)) {
        case Field::kName:
          return string(item, group);
        case Field::kDesc:
          return string(item, description);
        case Field::kRanks:
          return rank_list(item, ranks);
        default:
          return skip(item);
      }
    });
    if (!error) x_builder.declare_group(group, description, ranks);
    return error;
  }

  Error rank_list(ondemand::value value, SymbolId& out) {
    ondemand::json_type type;
    if (const Error error = value.type().get(type)) return error;
    if (type == ondemand::json_type::string) return string(value, out);
    std::string text = "[";
    const Error error = each_element(value, [&](ondemand::value item) {
      std::int64_t rank = -1;
      const Error failed = number(item, rank);
      text += (text.size() > 1 ? ", " : "") + std::to_string(rank);
      return failed;
    });
    out = intern(text + "]");
    return error;
  }

  Error read_status(std::string_view id, ondemand::value value) {
    model::GroupStatus status;
    std::from_chars(id.data(), id.data() + id.size(), status.pg_id);
    const Error error = each_field(value, [&](std::string_view key, ondemand::value item) {
      switch (field_of(key)) {
        case Field::kLastEnqueued:
          return number(item, status.last_enqueued);
        case Field::kLastStarted:
          return number(item, status.last_started);
        case Field::kLastCompleted:
          return number(item, status.last_completed);
        default:
          return skip(item);
      }
    });
    if (!error) x_builder.add_status(status);
    return error;
  }

  Error read_entry(ondemand::value value) {
    Entry entry;
    bool any = false;
    const Error error = each_field(value, [&](std::string_view key, ondemand::value item) {
      any = true;
      return entry_field(field_of(key), item, entry);
    });
    if (!error && any && x_builder.operation_count() < kMaxOperations) x_builder.add(entry);
    return error;
  }

  Error entry_field(Field field, ondemand::value value, Entry& entry) {
    switch (field) {
      case Field::kRecordId:
        return number(value, entry.record_id);
      case Field::kPgId:
        return number(value, entry.pg_id);
      case Field::kProcessGroup:
        return process_group(value, entry);
      case Field::kSequence:
        return number(value, entry.sequence);
      case Field::kCollectiveSequence:
        return number(value, entry.collective_sequence);
      case Field::kP2pSequence:
        return number(value, entry.p2p_sequence);
      case Field::kOpId:
        return number(value, entry.op_id);
      case Field::kProfilingName:
        return string(value, entry.profiling_name);
      case Field::kCreated:
        return number(value, entry.created_ns);
      case Field::kStarted:
        return number(value, entry.started_ns);
      case Field::kCompleted:
        return number(value, entry.completed_ns);
      case Field::kDuration:
        return duration(value, entry.duration_ms);
      case Field::kInputSizes:
        return shapes(value, entry.input_shapes);
      case Field::kOutputSizes:
        return shapes(value, entry.output_shapes);
      case Field::kInputDtypes:
        return dtypes(value, entry.input_dtypes);
      case Field::kOutputDtypes:
        return dtypes(value, entry.output_dtypes);
      case Field::kState:
        return string(value, entry.state);
      case Field::kRetired:
        return boolean(value, entry.retired);
      case Field::kTimeout:
        return number(value, entry.timeout_ms);
      case Field::kIsP2p: {
        bool is_p2p = false;
        const Error error = boolean(value, is_p2p);
        entry.is_p2p = is_p2p;
        return error;
      }
      default:
        return skip(value);
    }
  }

  Error duration(ondemand::value value, float& out) {
    double parsed = 0;
    const Error error = value.get_double().get(parsed);
    if (!error) out = static_cast<float>(parsed);
    return fatal(error) ? error : simdjson::SUCCESS;
  }

  Error process_group(ondemand::value value, Entry& entry) {
    ondemand::json_type type;
    if (const Error error = value.type().get(type)) return error;
    if (type == ondemand::json_type::string) return string(value, entry.group_name);
    int index = 0;
    return each_element(value, [&](ondemand::value item) {
      const int at = index++;
      if (at > 1) return skip(item);
      return string(item, at == 0 ? entry.group_name : entry.group_description);
    });
  }

  Error shapes(ondemand::value value, model::ShapesId& out) {
    x_numbers.clear();
    const Error error = each_element(value, [&](ondemand::value tensor) {
      const std::size_t count_at = x_numbers.size();
      x_numbers.push_back(0);
      const Error failed = each_element(tensor, [&](ondemand::value dimension) {
        std::int64_t number_read = -1;
        const Error bad = number(dimension, number_read);
        if (!bad) x_numbers.push_back(number_read);
        return bad;
      });
      x_numbers[count_at] = static_cast<std::int64_t>(x_numbers.size() - count_at - 1);
      return failed;
    });
    if (!error) out = x_builder.vocabulary().shapes.intern(x_numbers);
    return error;
  }

  Error dtypes(ondemand::value value, SymbolId& out) {
    std::string joined;
    const Error error = each_element(value, [&](ondemand::value item) {
      std::string_view text;
      const Error failed = item.get_string().get(text);
      if (!failed) {
        if (!joined.empty()) joined += ',';
        joined += text;
      }
      return fatal(failed) ? failed : simdjson::SUCCESS;
    });
    if (!error) out = intern(joined);
    return error;
  }

  std::string_view x_bytes;
  Evidence& x_evidence;
  DumpBuilder x_builder;
  std::vector<std::int64_t> x_numbers;
  std::optional<std::uint64_t> x_failed_at;
};

}  // namespace

bool sniff_json(std::string_view bytes) {
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || (bytes[start] != '{' && bytes[start] != '[')) return false;
  for (const std::string_view key :
       {"\"profiling_name\"", "\"pg_config\"", "\"pg_status\"", "\"collective_seq_id\""}) {
    if (bytes.find(key) != std::string_view::npos) return true;
  }
  return false;
}

void parse_json(std::string_view bytes, Evidence& evidence) {
  JsonReader(bytes, evidence).read();
}

}  // namespace unhang::formats::flight_recorder
