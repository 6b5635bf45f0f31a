# SPDX-License-Identifier: Apache-2.0
# unhang_yaml: pod specs and runbooks, for src/checks/yaml_document.cc. Debian: libyaml-dev.
find_library(YAML NAMES yaml REQUIRED)
mark_as_advanced(YAML)
add_library(unhang_yaml INTERFACE)
target_link_libraries(unhang_yaml INTERFACE ${YAML})
