// SPDX-License-Identifier: Apache-2.0
//
// JSON by nlohmann's event parser, which neither recurses nor throws.
#include <nlohmann/json.hpp>

#include "checks/document_builder.h"

namespace unhang::checks {
namespace {

using Json = nlohmann::json;

class Handler final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return x_builder.scalar({}, false, 0); }
  bool boolean(bool value) override { return x_builder.scalar(value ? "true" : "false", false, 0); }
  bool number_integer(number_integer_t value) override {
    return x_builder.scalar(std::to_string(value), false, 0);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return x_builder.scalar(std::to_string(value), false, 0);
  }
  bool number_float(number_float_t, const string_t& text) override {
    return x_builder.scalar(text, false, 0);
  }
  bool string(string_t& value) override { return x_builder.scalar(std::move(value), true, 0); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return x_builder.open(Node::Kind::kMap, 0); }
  bool key(string_t& value) override { return x_builder.scalar(std::move(value), true, 0); }
  bool end_object() override { return closed(); }
  bool start_array(std::size_t) override { return x_builder.open(Node::Kind::kList, 0); }
  bool end_array() override { return closed(); }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    x_position = position;
    return false;
  }

  DocumentBuilder x_builder;
  std::size_t x_position = 0;

 private:
  bool closed() {
    x_builder.close();
    return true;
  }
};

}  // namespace

base::Result<Document> read_json(std::string_view text) {
  Handler handler;
  if (Json::sax_parse(text.begin(), text.end(), &handler)) return handler.x_builder.take();
  return base::fail(base::ErrorCode::kData,
                    handler.x_position > 0
                        ? "no JSON at byte " + std::to_string(handler.x_position)
                        : "more than " + std::to_string(kMostNodes) + " values, or nested too deep");
}

}  // namespace unhang::checks
