// SPDX-License-Identifier: Apache-2.0
//
// The one file that knows libyaml. Its event parser is used, not its tree: events are bounded here, and an
// alias costs nothing, however often it is repeated.
#include <map>
#include <optional>

#include <yaml.h>

#include "base/printable.h"
#include "checks/document_builder.h"

namespace unhang::checks {
namespace {

using base::ErrorCode;

// Whether Kubernetes would read a plain scalar as something else than text.
bool is_plain_text(std::string_view text) {
  constexpr std::string_view kWords[] = {"",      "~",     "null",  "Null", "NULL", "true", "True", "TRUE",
                                         "false", "False", "FALSE", "yes",  "Yes",  "YES",  "no",   "No",
                                         "NO",    "on",    "On",    "ON",   "off",  "Off",  "OFF"};
  for (const std::string_view word : kWords) {
    if (text == word) return false;
  }
  return text.find_first_not_of("0123456789+-.eExXabcdefABCDEF_") != std::string_view::npos ||
         text.find_first_of("0123456789") == std::string_view::npos;
}

class Parser {
 public:
  explicit Parser(std::string_view text) {
    x_good = yaml_parser_initialize(&x_parser) != 0;
    if (x_good)
      yaml_parser_set_input_string(&x_parser, reinterpret_cast<const unsigned char*>(text.data()),
                                   text.size());
  }
  ~Parser() {
    if (x_good) yaml_parser_delete(&x_parser);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  base::Result<Document> read() {
    if (!x_good) return base::fail(ErrorCode::kInternal, "not enough memory for YAML");
    while (true) {
      yaml_event_t event;
      if (yaml_parser_parse(&x_parser, &event) == 0) return wrong();
      const yaml_event_type_t type = event.type;
      const bool within = take(event);
      yaml_event_delete(&event);
      if (type == YAML_STREAM_END_EVENT) return x_builder.take();
      if (!within)
        return base::fail(ErrorCode::kData, "more than " + std::to_string(kMostNodes) +
                                                " values, or nested deeper than " +
                                                std::to_string(kMostDepth));
    }
  }

 private:
  tl::unexpected<base::Error> wrong() const {
    const char* problem = x_parser.problem != nullptr ? x_parser.problem : "not YAML";
    const std::size_t line = x_parser.problem_mark.line + 1;
    return base::fail(ErrorCode::kData, "line " + std::to_string(line) + ": " + base::printable(problem));
  }

  bool take(const yaml_event_t& event) {
    const std::uint64_t line = event.start_mark.line + 1;
    switch (event.type) {
      case YAML_MAPPING_START_EVENT:
        return named(event.data.mapping_start.anchor, x_builder.open(Node::Kind::kMap, line));
      case YAML_SEQUENCE_START_EVENT:
        return named(event.data.sequence_start.anchor, x_builder.open(Node::Kind::kList, line));
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        x_builder.close();
        return true;
      case YAML_SCALAR_EVENT: {
        const auto& scalar = event.data.scalar;
        std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
        const bool is_text = scalar.style != YAML_PLAIN_SCALAR_STYLE || is_plain_text(text);
        const bool is_key = x_builder.awaits_key();
        const bool within = x_builder.scalar(std::move(text), is_text, line);
        return is_key ? within : named(scalar.anchor, within);
      }
      case YAML_ALIAS_EVENT: {
        const auto at = x_anchors.find(reinterpret_cast<const char*>(event.data.alias.anchor));
        return at == x_anchors.end() ? x_builder.scalar({}, true, line) : x_builder.alias(at->second);
      }
      default:
        return true;
    }
  }

  bool named(const yaml_char_t* anchor, bool within) {
    if (anchor != nullptr && within) x_anchors[reinterpret_cast<const char*>(anchor)] = x_builder.last();
    return within;
  }

  yaml_parser_t x_parser{};
  bool x_good = false;
  DocumentBuilder x_builder;
  std::map<std::string, std::uint32_t> x_anchors;
};

}  // namespace

base::Result<Document> read_yaml(std::string_view text) {
  return Parser(text).read();
}

}  // namespace unhang::checks
