#!/usr/bin/env python3
"""Runs an MPI program under the wrappers with the text recorder, and checks what was recorded.

    check.py MPIRUN RANKS LIBRARIES TEXT_RECORDER PROGRAM [ARGUMENTS]...
    check.py --archive CTASCOPE MPIRUN RANKS PROGRAM [ARGUMENTS]...

LIBRARIES: what is preloaded, with colons. The second form records with 'ctascope record' and reads
the archive with otf2-print. Checked, of all ranks together:
  - what the program says that it did (expect.h, .f90) is what was recorded, no more and no less
  - each thread's times do not go back, its regions nest, and all are left again
  - a communicator is the same in all of its members, which one of them lists
  - every receive has its send: partner, tag, bytes; and does not end before the send starts
  - collectives of a communicator come in one order in all members, with one root
  - each request begins once and ends at most once
"""
import collections
import os
import re
import subprocess
import sys
import tempfile


def fail(text):
    sys.exit(f"check: {text}")


# Open MPI runs more ranks than there are cores, and as root. It asks PRRTE since 5.0.
ANY_MACHINE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def run(mpirun, ranks, libraries, recorder, program, where, more=None):
    """Runs the program; its exit status."""
    expected, texts = os.path.join(where, "expected"), os.path.join(where, "texts")
    os.makedirs(expected)
    os.makedirs(texts)
    environment = dict(os.environ, EXPECTED=expected, TEXT_RECORDER=texts, **ANY_MACHINE, **(more or {}))
    # Into the ranks alone: ThreadSanitizer's runtime ends what was not built with it, such as the launcher.
    ranked = ["env", "LD_PRELOAD=" + " ".join([recorder] + libraries.split(":"))] + program
    done = subprocess.run([mpirun, "-n", str(ranks)] + ranked, env=environment, timeout=1200)
    return done.returncode


class Rank:
    def __init__(self):
        self.rank, self.events, self.communicators = None, [], []
        self.messages, self.clocks, self.regions = [], [], {}


def read_fields(words):
    return dict(word.split("=", 1) for word in words if "=" in word)


def read_text(path):
    rank, groups = Rank(), {}
    with open(path) as file:
        lines = file.read().split("\n")
    if lines and lines[-1]:
        lines.pop()  # cut off by death
    for line in lines:
        words = line.split(" ")
        if len(words) < 3:
            continue
        if words[2] == "MPI":
            rank.rank = int(read_fields(words[3:])["rank"])
        elif words[2] == "COMMUNICATOR":
            match = re.match(r"id=(\S+) parent=(\S+) name=(.*) members=(\S*)$",
                             " ".join(words[3:]))
            members = [int(m) for m in match.group(4).split(",") if m]
            rank.communicators.append((match.group(1), match.group(3), members))
        elif words[2] == "GROUP":
            fields = read_fields(words[3:])
            groups[fields["number"]] = fields["members"]
        elif words[2] == "MESSAGE":
            rank.messages.append(line)
        elif words[2] == "CLOCK":
            rank.clocks.append(read_fields(words[3:]))
        elif words[2] == "REGION":
            fields = read_fields(words[3:])
            rank.regions[fields["name"]] = fields
        elif words[0] != "-":
            event = read_fields(words[3:])
            event.update(time=int(words[0]), thread=words[1], kind=words[2])
            if event["kind"] == "GROUP_SYNC":
                event["group"] = groups.get(event["level"], "none")
            rank.events.append(event)
    return rank


def read_ranks(where):
    texts = os.path.join(where, "texts")
    ranks = {}
    for name in os.listdir(texts):
        rank = read_text(os.path.join(texts, name))
        if rank.rank is None:
            continue
        if rank.rank in ranks:
            fail(f"two processes are rank {rank.rank}")
        ranks[rank.rank] = rank
    return ranks


# ---- the same of an archive, by what otf2-print says ----

OPERATIONS = ("BARRIER BCAST GATHER GATHERV SCATTER SCATTERV ALLGATHER ALLGATHERV ALLTOALL "
              "ALLTOALLV ALLTOALLW ALLREDUCE REDUCE REDUCE_SCATTER SCAN EXSCAN "
              "REDUCE_SCATTER_BLOCK CREATE_HANDLE DESTROY_HANDLE ALLOCATE DEALLOCATE "
              "CREATE_HANDLE_AND_ALLOCATE").split()
KINDS = {"NON_BLOCKING_COLLECTIVE_REQUEST": "ICOLLECTIVE_REQUEST",
         "NON_BLOCKING_COLLECTIVE_COMPLETE": "ICOLLECTIVE_COMPLETE",
         "RMA_COLLECTIVE_BEGIN": "RMA_COLLECTIVE_BEGIN",
         "RMA_COLLECTIVE_END": "RMA_COLLECTIVE_END"}
ATTRIBUTES = {"Receiver": "peer", "Sender": "peer", "Tag": "tag", "Length": "bytes",
              "Request": "request", "Sent": "sent", "Received": "received", "Bytes": "bytes",
              "Remote": "remote", "Root": "root"}


def otf2_print(option, anchor):
    done = subprocess.run(["otf2-print"] + option + [anchor], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=1200)
    if done.returncode or done.stderr.strip():
        fail(f"otf2-print complains: {done.stderr.strip() or done.returncode}")
    return done.stdout.splitlines()


def read_event(line):
    kind, location, time, *rest = line.split(None, 3)
    fields = dict(re.findall(r"([A-Z][\w ]*): ([^,{]+)", rest[0])) if rest else {}
    event = {new: fields[old].split()[0].replace("NONE", "-1").replace("UNDEFINED", "-1")
             for old, new in ATTRIBUTES.items() if old in fields}
    event.update(kind=KINDS.get(kind, kind.replace("MPI_", "").replace("RMA_", "")),
                 time=int(time), thread=location)
    if "Region" in fields:
        event["region"] = fields["Region"].split('"')[1]
    if "Operation" in fields:
        event["op"] = str(OPERATIONS.index(fields["Operation"].strip()))
    if event["kind"] == "ACQUIRE_LOCK":
        event["op"] = str(["EXCLUSIVE", "SHARED"].index(fields["Type"].strip()))
    if event["kind"] == "ATOMIC":
        event["bytes"] = event["sent"]
    if event["kind"] == "GROUP_SYNC":
        event["group"] = re.search(r"Group: .*<(\d+)>|$", rest[0]).group(1)
    if "Communicator" in fields:
        event["comm"] = re.search(r"<(\d+)>", fields["Communicator"]).group(1)
    return location, event


def read_archive(anchor):
    ranks, groups, own, rank_of = collections.defaultdict(Rank), {}, set(), {}
    for line in otf2_print(["-G"], anchor):
        found = re.match(r'LOCATION +(\d+) .*Group: "MPI Rank (\d+)"', line)
        if found:
            rank_of[found[1]] = int(found[2])
        if line.startswith("GROUP "):
            members = re.search(r"Members?: (.*)|$", line)[1] or ""
            groups[line.split()[1]] = [int(m) for m in re.findall(r"(\d+) \(", members)], \
                "COMM_SELF" in line
        elif line.startswith("COMM "):
            identity, name, group = re.match(
                r'COMM +(\d+) +Name: "(.*)" <.*Group: "[^"]*" <(\d+)>', line).groups()
            members, is_self = groups[group]
            if is_self:
                own.add(identity)
            for rank in members:
                ranks[rank].communicators.append((identity, name, members))
    for line in otf2_print([], anchor):
        if not re.match(r"[A-Z_0-9]+ +\d+ +\d+", line):
            continue
        location, event = read_event(line)
        number = rank_of[location]
        rank = ranks[number]
        if event["kind"] == "GROUP_SYNC":
            listed = groups.get(event["group"], ([], False))[0]
            event["group"] = ",".join(map(str, listed)) or "none"
        if event.get("comm") in own: # the archive has one for all
            event["comm"] += f" of {number}"
            rank.communicators.append((event["comm"], "MPI_COMM_SELF", [number]))
        rank.events.append(event)
    for number, rank in ranks.items():
        rank.rank = number
    return ranks


def check_threads(rank, finished=True):
    last, stacks = {}, collections.defaultdict(list)
    for event in rank.events:
        thread = event["thread"]
        if event["time"] < last.get(thread, 0):
            fail(f"rank {rank.rank} thread {thread}: time goes back at {event}")
        last[thread] = event["time"]
        if event["kind"] == "ENTER":
            stacks[thread].append(event["region"])
        elif event["kind"] == "LEAVE":
            if not stacks[thread] or stacks[thread].pop() != event["region"]:
                fail(f"rank {rank.rank} thread {thread}: {event} was not entered")
        elif not stacks[thread]:
            fail(f"rank {rank.rank} thread {thread}: {event} lies outside of any call")
    if finished and any(stacks.values()):
        fail(f"rank {rank.rank}: never left: {dict(stacks)}")


def check_communicators(ranks):
    """Names and members by identity."""
    names, members = {}, {}
    for rank in ranks.values():
        for identity, name, listed in rank.communicators:
            if name and names.setdefault(identity, name) != name:
                fail(f"communicator {identity} is '{names[identity]}' and '{name}'")
            if listed:
                if members.get(identity, listed) != listed:
                    fail(f"communicator {identity} has two lists of members")
                members[identity] = listed
    for rank in ranks.values():
        for identity, _, _ in rank.communicators:
            if identity not in members:
                fail(f"rank {rank.rank}: nobody lists the members of {identity}")
            if rank.rank not in members[identity]:
                fail(f"rank {rank.rank} is no member of {identity}: {members[identity]}")
    return names, members


CUT_OFF = "666"  # the tag of messages that are too long for their receives, which fail


def channels(ranks, members):
    """(communicator, sender, receiver) -> sends, receives; by world ranks."""
    found = collections.defaultdict(lambda: ([], []))
    for rank in ranks.values():
        for event in rank.events:
            kind = event["kind"]
            if kind not in ("SEND", "ISEND", "RECV", "IRECV") or event["tag"] == CUT_OFF:
                continue
            peer = members[event["comm"]][int(event["peer"])]
            if kind in ("SEND", "ISEND"):
                found[event["comm"], rank.rank, peer][0].append(event)
            else:
                found[event["comm"], peer, rank.rank][1].append(event)
    return found


def check_matching(ranks, members):
    matched = 0
    for channel, (sends, receives) in channels(ranks, members).items():
        def by_content(events):
            return sorted((e["tag"], int(e["bytes"])) for e in events)
        if by_content(sends) != by_content(receives):
            fail(f"{channel}: sent {by_content(sends)}, received {by_content(receives)}")
        for tag in {e["tag"] for e in sends}:
            # However they matched: the k-th receive to end needs k sends that had started.
            starts = sorted(e["time"] for e in sends if e["tag"] == tag)
            ends = sorted(e["time"] for e in receives if e["tag"] == tag)
            for start, end in zip(starts, ends):
                if end < start:
                    fail(f"{channel} tag {tag}: received at {end}, sent at {start}")
        matched += len(sends)
    return matched


def check_collectives(ranks, members):
    """Root -1 is none: of an all-to-all, or of those in a root group that are not the root."""
    order = collections.defaultdict(dict)
    for rank in ranks.values():
        for event in rank.events:
            if event["kind"] == "COLLECTIVE_END":
                order[event["comm"]].setdefault(rank.rank, []).append(
                    (event["op"], event["root"]))
    for identity, of_ranks in order.items():
        if set(of_ranks) != set(members[identity]) or len(set(map(len, of_ranks.values()))) != 1:
            fail(f"collectives of {identity} are not those of all members: {of_ranks}")
        for parts in zip(*of_ranks.values()):
            if len({op for op, _ in parts}) != 1 or len({r for _, r in parts} - {"-1"}) > 1:
                fail(f"a collective of {identity} differs among its members: {parts}")
    return sum(len(next(iter(of_ranks.values()))) for of_ranks in order.values())


def check_requests(rank):
    begun, ended = {}, set()
    begins = {"ISEND": "ISEND_COMPLETE", "IRECV_REQUEST": "IRECV",
              "ICOLLECTIVE_REQUEST": "ICOLLECTIVE_COMPLETE"}
    for event in rank.events:
        kind, request = event["kind"], event.get("request")
        if kind in begins:
            if request in begun:
                fail(f"rank {rank.rank}: request {request} begins twice")
            begun[request] = begins[kind]
        elif kind in begins.values() or kind == "REQUEST_CANCELLED":
            if request in ended or begun.get(request) not in (kind, "ISEND_COMPLETE", "IRECV") or \
                    kind != "REQUEST_CANCELLED" and begun[request] != kind:
                fail(f"rank {rank.rank}: {event} was not begun, or ended before")
            ended.add(request)
        elif kind == "REQUEST_TEST" and (request not in begun or request in ended):
            fail(f"rank {rank.rank}: {event} is of no request")


FIELDS = {"SEND": ["comm", "peer", "tag", "bytes"], "PUT": ["remote", "bytes"],
          "COLLECTIVE_END": ["comm", "op", "root", "sent", "received"],
          "RMA_COLLECTIVE_END": ["op"], "ACQUIRE_LOCK": ["remote", "op"],
          "RELEASE_LOCK": ["remote"], "GROUP_SYNC": ["group"]}
for kind in ("RECV", "ISEND", "IRECV"):
    FIELDS[kind] = FIELDS["SEND"]
for kind in ("GET", "ATOMIC"):
    FIELDS[kind] = FIELDS["PUT"]
FIELDS["ICOLLECTIVE_COMPLETE"] = FIELDS["COLLECTIVE_END"]
# What nobody can know beforehand, or stands beside what is expected.
UNEXPECTED = {"ENTER", "LEAVE", "REQUEST_TEST", "COLLECTIVE_BEGIN", "RMA_COLLECTIVE_BEGIN"}


def said(event, names):
    fields = dict(event, comm=names.get(event.get("comm"), event.get("comm")))
    return " ".join([event["kind"]] + [f"{key}={fields[key]}" for key in
                                       FIELDS.get(event["kind"], [])])


def read_expected(where, rank):
    path = os.path.join(where, "expected", f"{rank}.txt")
    lines = []
    with open(path) as file:
        for line in file.read().splitlines():
            lines.append(line)
    return lines


def check_expected(where, rank, names):
    expected = read_expected(where, rank.rank)
    inter = [line for line in expected if line.startswith("INTER ")]
    expected = collections.Counter(line for line in expected if not line.startswith("INTER "))
    recorded, on_inter = collections.Counter(), collections.Counter()
    for event in rank.events:
        if event["kind"] in UNEXPECTED:
            continue
        text = said(event, names)
        if "comm=inter " in text:
            on_inter[event["kind"]] += 1
        else:
            recorded[text] += 1
    wrong = [f"  {n} too many: {text}" for text, n in (recorded - expected).items()] + \
        [f"  {n} missing: {text}" for text, n in (expected - recorded).items()]
    if wrong:
        fail(f"rank {rank.rank}:\n" + "\n".join(sorted(wrong)))
    messages = sum(not line.endswith("partner=-1") and "partner=-" not in line for line in inter)
    if inter and (on_inter["SEND"], on_inter["RECV"]) != (messages, messages):
        fail(f"rank {rank.rank}: messages between groups: {on_inter}")
    return sum(expected.values())


def check(where, count, ranks=None):
    ranks = ranks or read_ranks(where)
    if sorted(ranks) != list(range(count)):
        fail(f"recorded ranks {sorted(ranks)}")
    names, members = check_communicators(ranks)
    known = 0
    for rank in ranks.values():
        check_threads(rank)
        check_requests(rank)
        known += check_expected(where, rank, names)
    return (f"{known} events as expected, {check_matching(ranks, members)} messages and "
            f"{check_collectives(ranks, members)} collectives match, "
            f"{len(members)} communicators")


def check_archive(ctascope, mpirun, count, program):
    with tempfile.TemporaryDirectory() as where:
        run_path, expected = os.path.join(where, "run"), os.path.join(where, "expected")
        os.makedirs(expected)
        environment = dict(os.environ, EXPECTED=expected, **ANY_MACHINE)
        done = subprocess.run([ctascope, "record", "--timeline", "-o", run_path, "--", mpirun, "-n",
                               str(count)] + program, env=environment, timeout=1200)
        if done.returncode:
            fail(f"record ended with {done.returncode}")
        ranks = read_archive(os.path.join(run_path, "timeline", "traces.otf2"))
        print("check: " + check(where, count, ranks))


def main():
    if sys.argv[1] == "--archive":
        check_archive(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:])
        return
    mpirun, count, libraries, recorder = sys.argv[1:5]
    with tempfile.TemporaryDirectory() as where:
        status = run(mpirun, int(count), libraries, recorder, sys.argv[5:], where)
        if status:
            fail(f"the program ended with {status}")
        print("check: " + check(where, int(count)))


if __name__ == "__main__":
    main()
