// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "checks/document.h"
#include "checks/env_sources.h"

namespace unhang::checks {
namespace {

// Aliases share nodes: a walk could see one of them without end.
constexpr std::size_t kMostSteps = 2'000'000;
constexpr std::size_t kMostNotes = 20;

class SpecReader {
 public:
  SpecReader(const Document& document, const std::string& name) : x_document(document), x_name(name) {}

  base::Result<EnvSources> read() {
    for (const std::uint32_t root : x_document.roots) walk(root, "", 0);
    if (!x_any) {
      return base::fail(base::ErrorCode::kData,
                        x_name + ": no container, config map or service with variables stands in it");
    }
    x_sources.are_containers = true;
    return std::move(x_sources);
  }

 private:
  // `part` is the template that a container stands in (leaderTemplate, workerTemplate), where there is one.
  void walk(std::uint32_t index, const std::string& part, std::size_t depth) {
    if (++x_steps > kMostSteps || depth > kMostDepth) return;
    const Node& node = x_document.nodes[index];
    if (node.kind == Node::Kind::kMap) map(node, part);
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const std::string& key = i < node.keys.size() ? node.keys[i] : part;
      const bool is_part = i < node.keys.size() && (key == "leaderTemplate" || key == "workerTemplate");
      walk(node.children[i], is_part ? key : part, depth + 1);
    }
  }

  void map(const Node& node, const std::string& part) {
    const Node* env = x_document.child(node, "env");
    const Node* image = x_document.child(node, "image");
    if ((env != nullptr && env->kind == Node::Kind::kList) || (image != nullptr && !named(node).empty())) {
      x_any = true;
      container(node, env, part);
    }
    if (const Node* kind = x_document.child(node, "kind"); kind != nullptr && kind->scalar == "ConfigMap") {
      if (const Node* data = x_document.child(node, "data")) {
        x_any = true;
        const Node* metadata = x_document.child(node, "metadata");
        pairs(*data, "config map " + (metadata != nullptr ? named(*metadata) : ""));
      }
    }
    if (const Node* compose = x_document.child(node, "environment")) {
      x_any = true;
      const Node* title = x_document.child(node, "container_name");
      const std::string name = title != nullptr ? "service " + title->scalar : "service";
      if (compose->kind == Node::Kind::kMap) pairs(*compose, name);
      if (compose->kind == Node::Kind::kList) lines(*compose, name);
    }
  }

  std::string named(const Node& map) const {
    const Node* name = x_document.child(map, "name");
    return name != nullptr ? name->scalar : "";
  }

  void container(const Node& node, const Node* env, const std::string& part) {
    Environment out;
    out.form = base::EnvForm::kKubernetes;
    out.name = "container " + named(node) + (part.empty() ? "" : " of " + part);
    if (x_document.child(node, "envFrom") != nullptr)
      note("variables that " + out.name + " takes by envFrom are not seen: check the config map as well");
    if (env != nullptr && env->kind == Node::Kind::kList) {
      for (const std::uint32_t child : env->children) {
        const Node& entry = x_document.nodes[child];
        const Node* value = x_document.child(entry, "value");
        add(out, named(entry), value, value != nullptr ? *value : entry);
      }
    }
    keep(std::move(out));
  }

  void pairs(const Node& map, std::string name) {
    if (map.kind != Node::Kind::kMap) return;
    Environment out;
    out.form = base::EnvForm::kKubernetes;
    out.name = std::move(name);
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
      const Node& value = x_document.nodes[map.children[i]];
      add(out, map.keys[i], &value, value);
    }
    keep(std::move(out));
  }

  void lines(const Node& list, std::string name) {
    Environment out;
    out.form = base::EnvForm::kPlain;
    out.name = std::move(name);
    for (const std::uint32_t child : list.children) {
      Node entry = x_document.nodes[child];
      const std::size_t equals = entry.scalar.find('=');
      if (equals == std::string::npos) continue;
      const std::string variable = entry.scalar.substr(0, equals);
      entry.scalar.erase(0, equals + 1);
      add(out, variable, &entry, entry);
    }
    keep(std::move(out));
  }

  void add(Environment& out, const std::string& name, const Node* value, const Node& at) {
    if (!is_watched(name)) return;
    Variable variable{.name = name, .value = {}, .where = x_name};
    if (at.line > 0) variable.where += ":" + std::to_string(at.line);
    variable.known = value != nullptr && value->kind == Node::Kind::kScalar &&
                     value->scalar.find("$(") == std::string::npos;
    if (value != nullptr) {
      variable.value = value->scalar;
      variable.not_text = !value->is_text;
    }
    out.variables.push_back(std::move(variable));
  }

  void keep(Environment out) {
    if (!out.variables.empty()) x_sources.environments.push_back(std::move(out));
  }
  void note(std::string text) {
    if (x_sources.notes.size() < kMostNotes && x_noted.insert(text).second)
      x_sources.notes.push_back(std::move(text));
  }

  const Document& x_document;
  const std::string& x_name;
  EnvSources x_sources;
  std::set<std::string> x_noted;
  std::size_t x_steps = 0;
  bool x_any = false;
};

// A line "word:" or "word: value" of a spec, which no file of assignments has.
bool looks_like_yaml(std::string_view text) {
  for (const std::string_view key :
       {"apiVersion:", "kind:", "spec:", "containers:", "services:", "metadata:", "env:", "environment:"}) {
    const std::size_t at = text.find(key);
    if (at != std::string_view::npos &&
        (at == 0 || text[at - 1] == '\n' || text[at - 1] == ' ' || text[at - 1] == '-'))
      return true;
  }
  return false;
}

}  // namespace

base::Result<EnvSources> read_env_document(std::string_view text, const std::string& name, bool is_json) {
  auto document = is_json ? read_json(text) : read_yaml(text);
  if (!document) return base::fail(std::move(document.error()).with(name));
  return SpecReader(*document, name).read();
}

base::Result<EnvSources> read_env_text(std::string_view text, const std::string& name) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return read_env_document(text, name, true);
  const bool has_nul = text.find('\0') != std::string_view::npos;
  const bool is_shell = text.starts_with("#!") || text.starts_with("export ") ||
                        text.find("\nexport ") != std::string_view::npos || text.starts_with("[");
  if (!has_nul && !is_shell && looks_like_yaml(text)) return read_env_document(text, name, false);
  return read_env_lines(text, name);
}

}  // namespace unhang::checks
