// SPDX-License-Identifier: Apache-2.0
//
// A dump as a tree of values, written the ways that dumps are written: by PyTorch's C++ recorder (protocol
// 2), by Python's pickle module (protocol 4: everything memoised, batches of 1000), and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/flight_recorder/pickle_assembler_for_tests.h"

namespace unhang::formats::flight_recorder {

struct Tree {
  enum class Kind { kNone, kBool, kInt, kReal, kText, kList, kTuple, kDict };
  using Items = std::vector<std::pair<Tree, Tree>>;

  Kind kind = Kind::kNone;
  bool truth = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<Tree> list;
  Items items;

  Tree() = default;
  Tree(bool value) : kind(Kind::kBool), truth(value) {}
  Tree(int value) : kind(Kind::kInt), integer(value) {}
  Tree(std::int64_t value) : kind(Kind::kInt), integer(value) {}
  Tree(double value) : kind(Kind::kReal), number(value) {}
  Tree(const char* value) : kind(Kind::kText), text(value) {}
  Tree(std::string value) : kind(Kind::kText), text(std::move(value)) {}

  static Tree make_list(std::vector<Tree> values) {
    Tree out;
    out.kind = Kind::kList;
    out.list = std::move(values);
    return out;
  }
  static Tree make_tuple(std::vector<Tree> values) {
    Tree out = make_list(std::move(values));
    out.kind = Kind::kTuple;
    return out;
  }
  static Tree dict(Items values) {
    Tree out;
    out.kind = Kind::kDict;
    out.items = std::move(values);
    return out;
  }
  bool is_frame() const {
    return kind == Kind::kDict && items.size() == 3 && items[1].first.text == "filename";
  }
  bool is_entry() const {
    return kind == Kind::kDict && !items.empty() &&
           (items.back().first.text == "profiling_name" || items.front().first.text == "record_id" ||
            items.front().first.text == "frames" || items.front().first.text == "pg_id");
  }
};

class JsonWriter {
 public:
  std::string write(const Tree& root) {
    value(root);
    return out;
  }
  std::vector<std::size_t> entry_ends;

 private:
  void value(const Tree& tree) {
    switch (tree.kind) {
      case Tree::Kind::kNone:
        out += "null";
        break;
      case Tree::Kind::kBool:
        out += tree.truth ? "true" : "false";
        break;
      case Tree::Kind::kInt:
        out += std::to_string(tree.integer);
        break;
      case Tree::Kind::kReal:
        out += std::to_string(tree.number);
        break;
      case Tree::Kind::kText:
        text(tree.text);
        break;
      case Tree::Kind::kDict:
        out += '{';
        for (std::size_t i = 0; i < tree.items.size(); ++i) {
          if (i != 0) out += ',';
          text(tree.items[i].first.text);
          out += ':';
          value(tree.items[i].second);
        }
        out += '}';
        if (tree.is_entry()) entry_ends.push_back(out.size());
        break;
      default:
        out += '[';
        for (std::size_t i = 0; i < tree.list.size(); ++i) {
          if (i != 0) out += ',';
          value(tree.list[i]);
        }
        out += ']';
    }
  }
  void text(const std::string& value_text) {
    out += '"';
    for (const char c : value_text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  std::string out;
};

// What both picklers share. `entry_ends`: the offset after each entry's last byte.
class TreePickler {
 public:
  virtual ~TreePickler() = default;
  std::string write(const Tree& root) {
    begin();
    value(root);
    out.stop();
    return out.bytes();
  }
  std::vector<std::size_t> entry_ends;

 protected:
  virtual void begin() = 0;
  virtual void value(const Tree& tree) = 0;

  void integer(std::int64_t number) {
    if (number >= 0 && number < 256) {
      out.int1(static_cast<std::uint8_t>(number));
    } else if (number >= 0 && number < 65536) {
      out.int2(static_cast<std::uint16_t>(number));
    } else if (number == static_cast<std::int32_t>(number)) {
      out.int4(static_cast<std::int32_t>(number));
    } else {
      out.long1(number);
    }
  }
  bool scalar(const Tree& tree) {
    switch (tree.kind) {
      case Tree::Kind::kNone:
        return out.none(), true;
      case Tree::Kind::kBool:
        return out.truth(tree.truth), true;
      case Tree::Kind::kInt:
        return integer(tree.integer), true;
      case Tree::Kind::kReal:
        return out.real(tree.number), true;
      default:
        return false;
    }
  }

  PickleAssembler out;
  std::unordered_map<std::string, std::uint32_t> memo;
  std::uint32_t next_slot = 0;
};

// As torch::jit::Pickler: strings memoised by value, shared dictionaries (frames) once they are complete, a
// mark even for what is empty.
class TorchPickler : public TreePickler {
 protected:
  void begin() override { out.proto(2); }
  void value(const Tree& tree) override {
    if (scalar(tree)) return;
    if (tree.kind == Tree::Kind::kText) return text(tree.text);
    const std::string frame = tree.is_frame() ? '\n' + JsonWriter().write(tree) : std::string();
    if (!frame.empty() && get(frame)) return;
    if (tree.kind == Tree::Kind::kTuple && tree.list.size() == 2) {
      value(tree.list[0]);
      value(tree.list[1]);
      out.tuple2();
      return;
    }
    tree.kind == Tree::Kind::kDict ? out.dict().mark() : out.list().mark();
    for (const auto& [key, item] : tree.items) {
      value(key);
      value(item);
    }
    for (const Tree& item : tree.list) value(item);
    tree.kind == Tree::Kind::kDict ? out.set_items() : out.appends();
    if (!frame.empty()) put(frame);
    if (tree.is_entry()) entry_ends.push_back(out.size());
  }

 private:
  bool get(const std::string& key) {
    const auto found = memo.find(key);
    if (found == memo.end()) return false;
    found->second < 256 ? out.get(static_cast<std::uint8_t>(found->second)) : out.long_get(found->second);
    return true;
  }
  void put(const std::string& key) {
    memo[key] = next_slot;
    next_slot < 256 ? out.put(static_cast<std::uint8_t>(next_slot)) : out.long_put(next_slot);
    ++next_slot;
  }
  void text(const std::string& value_text) {
    if (get(value_text)) return;
    out.text(value_text);
    put(value_text);
  }
};

// As Python's pickle.dumps(tree, 4) (without shared containers): containers memoised while empty, filled in
// batches.
class PythonPickler : public TreePickler {
 protected:
  void begin() override { out.proto(4).frame(0); }
  void value(const Tree& tree) override {
    if (scalar(tree)) return;
    switch (tree.kind) {
      case Tree::Kind::kText:
        return text(tree.text);
      case Tree::Kind::kTuple:
        return tuple(tree);
      case Tree::Kind::kList:
        out.list();
        memoize();
        return batches(
            tree.list.size(), [&](std::size_t i) { value(tree.list[i]); }, 'a', 'e');
      default:
        out.dict();
        memoize();
        batches(
            tree.items.size(),
            [&](std::size_t i) {
              value(tree.items[i].first);
              value(tree.items[i].second);
            },
            's', 'u');
        if (tree.is_entry()) entry_ends.push_back(out.size());
    }
  }

 private:
  void memoize() {
    out.memoize();
    ++next_slot;
  }
  void text(const std::string& value_text) {
    if (const auto found = memo.find(value_text); found != memo.end()) {
      found->second < 256 ? out.get(static_cast<std::uint8_t>(found->second)) : out.long_get(found->second);
      return;
    }
    memo[value_text] = next_slot;
    value_text.size() < 256 ? out.short_text(value_text) : out.text(value_text);
    memoize();
  }
  void tuple(const Tree& tree) {
    if (tree.list.empty()) return void(out.empty_tuple());
    if (tree.list.size() > 3) out.mark();
    for (const Tree& item : tree.list) value(item);
    constexpr int kCodes[] = {0x85, 0x86, 0x87};
    out.op(tree.list.size() > 3 ? 't' : kCodes[tree.list.size() - 1]);
    memoize();
  }
  template <class Write>
  void batches(std::size_t count, Write&& write, char one, char many) {
    constexpr std::size_t kBatch = 1000;
    for (std::size_t from = 0; from < count; from += kBatch) {
      const std::size_t to = std::min(count, from + kBatch);
      if (to - from == 1) {
        write(from);
        out.op(one);
        continue;
      }
      out.mark();
      for (std::size_t i = from; i < to; ++i) write(i);
      out.op(many);
    }
  }
};

}  // namespace unhang::formats::flight_recorder
