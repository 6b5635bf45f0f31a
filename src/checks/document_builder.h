// SPDX-License-Identifier: Apache-2.0
//
// Puts a Document together from the events of a parser, whichever it is. Part of document.h.
#pragma once

#include <string>
#include <utility>

#include "checks/document.h"

namespace unhang::checks {

class DocumentBuilder {
 public:
  // Each returns false where a bound is reached; the parser then stops.
  bool open(Node::Kind kind, std::uint64_t line) {
    if (x_open.size() >= kMostDepth || !add(Node{kind, true, line, {}, {}, {}})) return false;
    x_open.push_back({last(), {}, false});
    return true;
  }
  void close() { x_open.pop_back(); }
  bool scalar(std::string text, bool is_text, std::uint64_t line) {
    if (awaits_key()) {
      x_open.back().key = std::move(text);
      x_open.back().has_key = true;
      return true;
    }
    return add(Node{Node::Kind::kScalar, is_text, line, std::move(text), {}, {}});
  }
  // A node that is there already. An alias in the place of a key is no key of ours: it gets an empty one.
  bool alias(std::uint32_t node) {
    if (awaits_key()) return scalar({}, true, 0);
    attach(node);
    return true;
  }
  bool awaits_key() const {
    return !x_open.empty() && x_document.nodes[x_open.back().node].kind == Node::Kind::kMap &&
           !x_open.back().has_key;
  }
  std::uint32_t last() const { return static_cast<std::uint32_t>(x_document.nodes.size() - 1); }
  Document take() { return std::move(x_document); }

 private:
  struct Open {
    std::uint32_t node;
    std::string key;
    bool has_key;
  };

  bool add(Node node) {
    if (x_document.nodes.size() >= kMostNodes) return false;
    // A map as a key (YAML allows it) is read as a value of an empty key.
    if (awaits_key()) x_open.back().has_key = true;
    x_document.nodes.push_back(std::move(node));
    attach(last());
    return true;
  }
  void attach(std::uint32_t node) {
    if (x_open.empty()) {
      x_document.roots.push_back(node);
      return;
    }
    Open& open = x_open.back();
    Node& parent = x_document.nodes[open.node];
    if (parent.kind == Node::Kind::kMap) {
      parent.keys.push_back(std::move(open.key));
      open.key.clear();
      open.has_key = false;
    }
    parent.children.push_back(node);
  }

  Document x_document;
  std::vector<Open> x_open;
};

}  // namespace unhang::checks
