# SPDX-License-Identifier: Apache-2.0
"""Whom a verdict names, beside the truth of an incident: those at fault, some of them, nobody, or an innocent.

The truth is that of run.py; incidents of several machines (`unhang simulate --sources …`) add hosts[{name, address,
processes[{rank, pid, gpu}]}], culprit_hosts and host_suffices: the trouble is a machine's, and its name is as exact as all
its ranks. src/simulate/judge.cc judges the same way without folders.
"""


def places(truth):
    """{rank: (host name, address, pid, gpu)}"""
    return {process["rank"]: (host["name"], host["address"], process["pid"], process["gpu"])
            for host in truth.get("hosts", []) for process in host["processes"]}


def rank_behind(item, place):
    """The rank whose host, process and device an item without a rank names; None where it names no more than a host."""
    if item.get("pid") is None and not item.get("gpu"):
        return None
    for rank, (name, address, pid, gpu) in place.items():
        if item.get("host") and item["host"] not in (name, address):
            continue
        if item.get("pid") is not None and item["pid"] != pid:
            continue
        if item.get("gpu") and gpu[5:] not in item["gpu"]:
            continue
        return rank
    return -1


def naming(truth, culprits):
    """exact, part, none or innocent, for the culprits of a verdict (items of its JSON)."""
    guilty = set(truth.get("culprits", truth.get("culprits_within", [])))
    guilty_hosts = set(truth.get("culprit_hosts", []))
    place = places(truth)
    names = {address: name for name, address, _, _ in place.values()}
    ranks, hosts = set(), set()
    for item in culprits:
        if item.get("rank") is not None:
            found = [item["rank"]] + ([item["peer"]] if item.get("peer") is not None else [])
        else:
            behind = rank_behind(item, place)
            if behind is None and item.get("host") and names.get(item["host"], item["host"]) in guilty_hosts:
                hosts.add(names.get(item["host"], item["host"]))
                continue
            if behind is None and item.get("group_rank") is not None and item.get("group") in ("0", ""):
                behind = item["group_rank"]
            found = [behind]
        if not set(found) <= guilty:
            return "innocent"
        ranks.update(found)
    if truth.get("host_suffices"):
        hosts |= {place[rank][0] for rank in ranks}
        return "none" if not hosts else "exact" if hosts == guilty_hosts else "part"
    if not guilty or "culprits" not in truth:
        return "exact" if guilty or not (ranks or hosts) else "innocent"
    if not ranks and not hosts:
        return "none"
    return "exact" if ranks == guilty else "part"
