// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "checks/document.h"
#include "checks/engine_command.h"
#include "checks/env_sources.h"
#include "checks/text_kind.h"

namespace unhang::checks {
namespace {

// Aliases share nodes: a walk could see one of them without end.
constexpr std::size_t kMostSteps = 2'000'000;
constexpr std::size_t kMostNotes = 20;
constexpr std::size_t kMostCommand = 64 << 10;  // bytes of a command that are looked at

class SpecReader {
 public:
  SpecReader(const Document& document, const std::string& name) : x_document(document), x_name(name) {}

  base::Result<EnvSources> read() {
    for (const std::uint32_t root : x_document.roots) walk(root, "", "", 0);
    if (!x_any) {
      return base::fail(base::ErrorCode::kData,
                        x_name + ": no container, config map or service with variables stands in it");
    }
    return std::move(x_sources);
  }

 private:
  // `own_key` is the key that the node is the value of; `part` is the template that a container stands in
  // (leaderTemplate, workerTemplate), where there is one.
  void walk(std::uint32_t index, const std::string& own_key, const std::string& part, std::size_t depth) {
    if (++x_steps > kMostSteps || depth > kMostDepth) return;
    const Node& node = x_document.nodes[index];
    if (node.kind == Node::Kind::kMap) map(node, own_key, part);
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const std::string& key = i < node.keys.size() ? node.keys[i] : x_no_key;
      const bool is_part = key == "leaderTemplate" || key == "workerTemplate";
      walk(node.children[i], key, is_part ? key : part, depth + 1);
    }
  }

  void map(const Node& node, const std::string& own_key, const std::string& part) {
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
        pairs(*data, base::EnvForm::kConfigMap, "config map " + (metadata != nullptr ? named(*metadata) : ""),
              std::nullopt);
      }
    }
    if (const Node* compose = x_document.child(node, "environment")) {
      x_any = true;
      const Node* title = x_document.child(node, "container_name");
      const std::string name = "service " + (title != nullptr ? title->scalar : own_key);
      if (compose->kind == Node::Kind::kMap)
        pairs(*compose, base::EnvForm::kCompose, name, engine_of_container(node));
      if (compose->kind == Node::Kind::kList) lines(*compose, name, engine_of_container(node));
    }
  }

  // Of a pod `command` and `args`, of a service `entrypoint` and `command`: a list of words or one text.
  std::optional<Engine> engine_of_container(const Node& node) const {
    std::string words;
    for (const std::string_view key : {"entrypoint", "command", "args"}) {
      const Node* command = x_document.child(node, key);
      if (command == nullptr) continue;
      words += command->scalar + "\n";
      for (const std::uint32_t child : command->children) {
        if (words.size() > kMostCommand) break;
        words += x_document.nodes[child].scalar + "\n";
      }
    }
    if (const auto engine = engine_of_command(words)) return engine;
    const Node* image = x_document.child(node, "image");
    return image != nullptr ? engine_of_image(image->scalar) : std::nullopt;
  }

  std::string named(const Node& map) const {
    const Node* name = x_document.child(map, "name");
    return name != nullptr ? name->scalar : "";
  }

  void container(const Node& node, const Node* env, const std::string& part) {
    Environment out;
    out.form = base::EnvForm::kKubernetes;
    out.name = "container " + named(node) + (part.empty() ? "" : " of " + part);
    out.engine = engine_of_container(node);
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

  void pairs(const Node& map, base::EnvForm form, std::string name, std::optional<Engine> engine) {
    if (map.kind != Node::Kind::kMap) return;
    Environment out;
    out.form = form;
    out.name = std::move(name);
    out.engine = engine;
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
      const Node& value = x_document.nodes[map.children[i]];
      add(out, map.keys[i], &value, value);
    }
    keep(std::move(out));
  }

  void lines(const Node& list, std::string name, std::optional<Engine> engine) {
    Environment out;
    out.form = base::EnvForm::kComposeList;
    out.name = std::move(name);
    out.engine = engine;
    for (const std::uint32_t child : list.children) {
      Node entry = x_document.nodes[child];
      const std::size_t equals = entry.scalar.find('=');
      if (equals == std::string::npos) {
        add(out, entry.scalar, nullptr, entry);  // the value is whatever compose itself is started with
        continue;
      }
      const std::string variable = entry.scalar.substr(0, equals);
      entry.scalar.erase(0, equals + 1);
      add(out, variable, &entry, entry);
    }
    keep(std::move(out));
  }

  void add(Environment& out, const std::string& name, const Node* value, const Node& at) {
    if (!is_watched(name)) return;
    if (out.variables.size() >= kMostVariables)
      return note("of " + out.name + " only the first " + std::to_string(kMostVariables) +
                  " variables were looked at");
    Variable variable{.name = name, .value = {}, .where = x_name};
    if (at.line > 0) variable.where += ":" + std::to_string(at.line);
    variable.known = value != nullptr && value->kind == Node::Kind::kScalar;
    if (value != nullptr) {
      variable.value = value->scalar;
      variable.not_text = !value->is_text;
    }
    switch (out.form) {
      case base::EnvForm::kCompose:
        if (variable.not_text && variable.value.empty()) variable.known = variable.not_text = false;
        [[fallthrough]];
      case base::EnvForm::kComposeList:
        variable.known = variable.known && undouble_dollars(variable.value);
        break;
      default:
        variable.known = variable.known && variable.value.find("$(") == std::string::npos;
        break;
    }
    out.variables.push_back(std::move(variable));
  }

  // What compose makes of "$$": "$". False: it puts something in the place of $NAME.
  static bool undouble_dollars(std::string& value) {
    for (std::size_t at = value.find('$'); at != std::string::npos; at = value.find('$', at + 1)) {
      if (at + 1 >= value.size() || value[at + 1] != '$') return false;
      value.erase(at, 1);
    }
    return true;
  }

  void keep(Environment out) {
    x_sources.form = out.form;
    if (!out.variables.empty() || out.engine) x_sources.environments.push_back(std::move(out));
  }
  void note(std::string text) {
    if (x_sources.notes.size() < kMostNotes && x_noted.insert(text).second)
      x_sources.notes.push_back(std::move(text));
  }

  const Document& x_document;
  const std::string& x_name;
  EnvSources x_sources;
  std::set<std::string> x_noted;
  const std::string x_no_key;
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
  if (const auto reason = why_no_text(text)) return base::fail(base::ErrorCode::kData, name + " " + *reason);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return read_env_document(text, name, true);
  const bool has_nul = text.find('\0') != std::string_view::npos;
  const bool is_shell = text.starts_with("#!") || text.starts_with("export ") ||
                        text.find("\nexport ") != std::string_view::npos || text.starts_with("[");
  if (!has_nul && !is_shell && looks_like_yaml(text)) return read_env_document(text, name, false);
  return read_env_lines(text, name);
}

}  // namespace unhang::checks
