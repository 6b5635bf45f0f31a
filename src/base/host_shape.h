// SPDX-License-Identifier: Apache-2.0
//
// What may be the name of a host, and what is a device, a word of the language or a public site. Part of
// base/anonymous_names.h.
#pragma once

#include <string_view>

namespace unhang::base {

// A letter, digit, '.', '_' or '-': what names of hosts and of files are made of.
bool is_name_character(char c);

// "mlx5_0", "eth0", "GPU0", "nvme0n1", "rank3": names that stand in every machine. GPU and NIC in capitals
// only: "gpu07" may be a host.
bool is_device_name(std::string_view name);

// Whether a host of this name can be told from the words around it: not where it is a word that logs use
// ("node", "worker", "master", "none"), "localhost", a number, or a device.
bool can_name_host(std::string_view name);

// Whether "TEXT5" is a host because "TEXT3" is one.
bool can_number_hosts(std::string_view prefix);

// github.com, pytorch.org and the like: they tell nothing about who runs the job.
bool is_public_site(std::string_view name);

// Domains that many sites share: "cluster.local", "ec2.internal".
bool is_shared_domain(std::string_view domain);

// Accounts that images come with: "root", "ubuntu".
bool is_shared_account(std::string_view user);

}  // namespace unhang::base
