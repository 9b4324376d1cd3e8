#!/usr/bin/env python3
"""Wrappers of MPI's functions from functions.txt and the preprocessed mpi.h of one MPI.

    generate.py functions.txt mpi.i real|wrappers|fortran|f08 FILE

real      a struct with a pointer to each of MPI's own functions (PMPI_*), and the list of names
wrappers  MPI_* in C
fortran   mpi_*_ and mpi_*_f08_, for an MPI whose Fortran bindings do not go through MPI_* in C.
          The arguments are turned into C's before the same hooks are called; the Fortran function
          itself gets what it was given, since only it knows its buffers.
f08       only mpi_*_f08_, and only what has no buffer, for MPICH: the rest of its Fortran bindings
          goes through MPI_* in C, but these call PMPI_*.

A wrapper tells wrap.h's hooks what a call means, by the kind that functions.txt gives it (KINDS).
Within a body, the arguments have the names of functions.txt and C's types; CALL is the call."""
import contextlib
import re
import sys

ROLES = {"p2p": "POINT2POINT", "barrier": "BARRIER", "all2all": "COLL_ALL2ALL",
         "one2all": "COLL_ONE2ALL", "all2one": "COLL_ALL2ONE", "other": "COLL_OTHER",
         "rma": "RMA", "-": "FUNCTION"}

# What each rank's own buffers give and get: (sent, received) of a collective over n partners
# (the communicator's size; an intercommunicator's remote group). B(count, type) is in bytes.
COLLECTIVES = {
    "BARRIER": ("0", "0"),
    "BCAST": ("at_root ? B(count, type) : 0", "at_root ? 0 : B(count, type)"),
    "GATHER": ("IN_PLACE ? B(rcount, rtype) : at_root && c->inter ? 0 : B(scount, stype)",
               "at_root ? n * B(rcount, rtype) : 0"),
    "GATHERV": ("IN_PLACE ? B(rcounts[c->rank], rtype) : at_root && c->inter ? 0 "
                ": B(scount, stype)",
                "at_root ? CTS_SUM(rcounts, n) * B(1, rtype) : 0"),
    "SCATTER": ("at_root ? n * B(scount, stype) : 0",
                "IN_PLACE ? B(scount, stype) : at_root && c->inter ? 0 : B(rcount, rtype)"),
    "SCATTERV": ("at_root ? CTS_SUM(scounts, n) * B(1, stype) : 0",
                 "IN_PLACE ? B(scounts[c->rank], stype) : at_root && c->inter ? 0 "
                 ": B(rcount, rtype)"),
    "ALLGATHER": ("IN_PLACE ? B(rcount, rtype) : B(scount, stype)", "n * B(rcount, rtype)"),
    "ALLGATHERV": ("IN_PLACE ? B(rcounts[c->rank], rtype) : B(scount, stype)",
                   "CTS_SUM(rcounts, n) * B(1, rtype)"),
    "ALLTOALL": ("n * (IN_PLACE ? B(rcount, rtype) : B(scount, stype))", "n * B(rcount, rtype)"),
    "ALLTOALLV": ("IN_PLACE ? CTS_SUM(rcounts, n) * B(1, rtype) "
                  ": CTS_SUM(scounts, n) * B(1, stype)", "CTS_SUM(rcounts, n) * B(1, rtype)"),
    "ALLTOALLW": ("IN_PLACE ? TYPED_SUM(rcounts, rtypes, n) : TYPED_SUM(scounts, stypes, n)",
                  "TYPED_SUM(rcounts, rtypes, n)"),
    "ALLREDUCE": ("B(count, type)", "B(count, type)"),
    "REDUCE": ("at_root && c->inter ? 0 : B(count, type)", "at_root ? B(count, type) : 0"),
    "REDUCE_SCATTER": ("CTS_SUM(rcounts, c->local_size) * B(1, type)",
                       "B(rcounts[c->rank], type)"),
    "REDUCE_SCATTER_BLOCK": ("c->local_size * B(count, type)", "B(count, type)"),
    "SCAN": ("B(count, type)", "B(count, type)"),
    "EXSCAN": ("B(count, type)", "c->rank ? B(count, type) : 0"),
}
NEIGHBORS = {
    "ALLGATHER": ("B(scount, stype)", "in * B(rcount, rtype)"),
    "ALLGATHERV": ("B(scount, stype)", "CTS_SUM(rcounts, in) * B(1, rtype)"),
    "ALLTOALL": ("out * B(scount, stype)", "in * B(rcount, rtype)"),
    "ALLTOALLV": ("CTS_SUM(scounts, out) * B(1, stype)", "CTS_SUM(rcounts, in) * B(1, rtype)"),
    "ALLTOALLW": ("TYPED_SUM(scounts, stypes, out)", "TYPED_SUM(rcounts, rtypes, in)"),
}

TAKE = "struct cts_request **taken = cts_requests_take(n, requests);"
TAKE_ONE = "struct cts_request *taken = cts_request_take(*request);"
# What is reported before the call is in order among what CUDA does inside it; only where an error
# may come back must it wait until there was none.
EARLY = "const bool early = cts_reports_early(comm); "
SENT_IT = "cts_sent(&call, B(count, type), peer, tag, comm);"
COLLECTIVE_BEGIN = "if (cts_reports_early(comm)) cts_collective_begin(&call); "
# What a body may say: CALL, and OK where MPI_SUCCESS was returned.
KINDS = {
    "plain": "CALL",
    "init": "CALL if (OK) cts_mpi_initialised();",
    "finalize": "cts_mpi_finalizing(); CALL cts_mpi_finalized(&call);",
    "send": EARLY + "if (early) " + SENT_IT + " CALL if (OK && !early) " + SENT_IT,
    "recv": "OWN_STATUS CALL if (OK) cts_received(&call, comm, peer, status);",
    "isend": "struct cts_request *const begun = "
             "cts_isending(&call, B(count, type), peer, tag, comm); "
             "CALL cts_isent(&call, OK, begun, *request);",
    "irecv": "CALL if (OK) cts_ireceiving(&call, peer, tag, comm, *request);",
    "send_init": "CALL if (OK) cts_persistent(MESSAGE(true, B(count, type), peer, tag, comm), *request);",
    "recv_init": "CALL if (OK) cts_persistent(MESSAGE(false, 0, peer, tag, comm), *request);",
    "start": TAKE_ONE + " cts_starting(&call, &taken, 1); CALL cts_started(&call, OK, &taken, 1);",
    "startall": TAKE + " cts_starting(&call, taken, n); CALL cts_started(&call, OK, taken, n);",
    "sendrecv": "OWN_STATUS " + EARLY + "if (early) " + SENT_IT + " CALL if (OK && !early) " +
                SENT_IT + " if (OK) cts_received(&call, comm, peer2, status);",
    "mprobe": "CALL if (OK) cts_message_matched(comm, *message);",
    "improbe": "CALL if (OK && *flag) cts_message_matched(comm, *message);",
    "mrecv": "struct cts_request *taken = cts_message_take(*message); OWN_STATUS CALL "
             "cts_message_received(&call, OK, taken, status);",
    "imrecv": "struct cts_request *taken = cts_message_take(*message); CALL "
              "cts_message_receiving(&call, OK, taken, *request);",
    "wait": TAKE_ONE + " OWN_STATUS CALL cts_tested(&call, result, TAKEN(&taken, 1), true, status);",
    "test": TAKE_ONE + " OWN_STATUS CALL "
            "cts_tested(&call, result, TAKEN(&taken, 1), OK && *flag, status);",
    "waitall": TAKE + " OWN_STATUSES CALL cts_tested(&call, result, TAKEN(taken, n), true, statuses);",
    "testall": TAKE + " OWN_STATUSES CALL "
               "cts_tested(&call, result, TAKEN(taken, n), !OK || *flag, statuses);",
    "waitany": TAKE + " OWN_STATUS CALL "
               "cts_tested_any(&call, result, TAKEN(taken, n), *index - BASE, status);",
    "testany": TAKE + " OWN_STATUS CALL "
               "cts_tested_any(&call, result, TAKEN(taken, n), OK && *flag ? *index - BASE : -1, "
               "status);",
    "waitsome": TAKE + " OWN_STATUSES CALL "
                "cts_tested_some(&call, result, TAKEN(taken, n), DONE(*outcount, indices, BASE), "
                "statuses);",
    "request_free": TAKE_ONE + " CALL cts_request_freed(OK, taken);",
    "cancel": TAKE_ONE + " CALL cts_request_cancelled(OK, taken);",
    "comm_create": COLLECTIVE_BEGIN + "CALL if (OK) { cts_collective(&call, "
                   "COLLECTIVE(OTF2_COLLECTIVE_OP_CREATE_HANDLE, cts_comm_info(comm), "
                   "CTS_TIMELINE_NONE, 0, 0)); "
                   "cts_comm_created(comm, *newcomm); call.end_ns = 0; }",
    "comm_join": "CALL if (OK) cts_comm_created(comm, *newcomm);",
    "comm_idup": "CALL if (OK) cts_comm_duplicating(comm, *newcomm);",
    "comm_free": "struct cts_communicator *freed = cts_comm_take(*comm); CALL "
                 "cts_comm_freed(&call, OK, freed);",
    "comm_errors": "CALL if (OK) cts_comm_errors_set(comm);",
    "comm_name": "CALL if (OK) cts_comm_named(comm);",
    "win": "CALL if (OK) cts_window_created(&call, OTF2_COLLECTIVE_OP_ARGUMENT, comm, *win);",
    "win_free": "struct cts_window *freed = cts_window_take(*win); CALL "
                "cts_window_freed(&call, OK, freed);",
    "rma": "CALL if (OK) cts_rma(&call, RMA(CTS_RMA_ARGUMENT, SENT, RECEIVED, peer, win), NULL);",
    "rrma": "CALL if (OK) cts_rma(&call, RMA(CTS_RMA_ARGUMENT, SENT, RECEIVED, peer, win), "
            "request);",
    "win_fence": "CALL if (OK) cts_window_fence(&call, win);",
    "win_post": "CALL if (OK) cts_window_posted(&call, win, group);",
    "win_start": "CALL if (OK) cts_window_started(&call, win, group);",
    "win_wait": "CALL if (OK) cts_window_exposed(&call, win);",
    "win_complete": "CALL if (OK) { cts_window_completed(&call, win, CTS_ALL_TARGETS, true); "
                    "cts_window_ended(&call, win); }",
    "win_test": "CALL if (OK && *flag) cts_window_exposed(&call, win);",
    "win_lock": "CALL if (OK) cts_window_lock(&call, win, peer, lock == MPI_LOCK_EXCLUSIVE);",
    "win_lock_all": "CALL if (OK) cts_window_lock(&call, win, CTS_ALL_TARGETS, false);",
    "win_unlock": "CALL if (OK) cts_window_unlock(&call, win, peer);",
    "win_unlock_all": "CALL if (OK) cts_window_unlock(&call, win, CTS_ALL_TARGETS);",
    "win_flush": "CALL if (OK) cts_window_completed(&call, win, peer, CTS_FLUSH_ARGUMENT);",
    "win_flush_all": "CALL if (OK) "
                     "cts_window_completed(&call, win, CTS_ALL_TARGETS, CTS_FLUSH_ARGUMENT);",
}


def collective(kind, operation, arguments):
    """The body of a collective; `kind` has a leading i where it does not block."""
    sent, received = (NEIGHBORS if "neighbor" in kind else COLLECTIVES)[operation]
    root = "cts_comm_root(c, root)" if "root" in arguments else "CTS_TIMELINE_NONE"
    if "neighbor" in kind:
        facts = "uint64_t in, out; cts_comm_neighbors(c, comm, &in, &out); (void)in; (void)out; "
    else:
        facts = "const uint64_t n = c->partners; (void)n; "
        if "root" in arguments:
            facts += "const bool at_root = cts_comm_at_root(c, root); "
    end = f"COLLECTIVE(OTF2_COLLECTIVE_OP_{operation}, c, {root}, sent, received)"
    end = f"cts_icollective(&call, {end}, *request);" if kind[0] == "i" \
        else f"cts_collective(&call, {end});"
    if "root" in arguments:
        # Of an intercommunicator's root group, only the root takes part.
        facts += "const bool idle = c->inter && root == MPI_PROC_NULL; "
        sent, received = f"idle ? 0 : {sent}", f"idle ? 0 : {received}"
    begin = "" if kind[0] == "i" else COLLECTIVE_BEGIN
    return (f"{begin}CALL struct cts_communicator *const c = OK ? cts_comm_info(comm) : NULL; "
            f"if (c) {{ {facts}const uint64_t sent = {sent}, received = {received}; {end} }}")


class Function:
    def __init__(self, name, returns, parameters):
        self.name, self.returns = name, returns
        self.parameters = parameters  # (type, name, suffix): "const int", "counts", "[]"
        self.role, self.kind, self.arguments = "-", "plain", ["_"] * len(parameters)


def read_header(path):
    """All prototypes int PMPI_X(...) and the others, by name."""
    with open(path) as file:
        text = re.sub(r"^#.*$", "", file.read(), flags=re.M)
    nested = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
    text = re.sub(r"__attribute__\s*\(\(" + nested + r"\)\)", "", text)
    functions = {}
    for returns, name, parameters in re.findall(
            r"\b(\w+)\s+PMPI_(\w+)\s*\(((?:[^();]|\([^()]*\))*)\)\s*;", text):
        split = [] if parameters.strip() in ("void", "") else parameters.split(",")
        parsed = []
        for number, parameter in enumerate(split):
            parameter = re.sub(r"\s+", " ", parameter).strip()
            match = re.match(r"(.*?)(\w+) ?((?:\[[^]]*\])*)$", parameter)
            typed = match and match.group(1).strip()
            parsed.append((match.group(1).strip(), match.group(2), match.group(3)) if typed
                          else (parameter, f"argument{number}", ""))
        functions[name] = Function(name, returns, parsed)
    return functions


def read_table(path, functions):
    """Gives each function of the header what the table says of it."""
    with open(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            name, role, kind, arguments = words[0], words[1], words[2], words[3:]
            for function in (functions.get(name), functions.get(name + "_c")):
                if not function:
                    continue
                if kind != "none" and len(arguments) != len(function.parameters):
                    sys.exit(f"{path}:{number}: MPI_{function.name} has "
                             f"{len(function.parameters)} arguments in mpi.h")
                function.role, function.kind, function.arguments = role, kind, arguments


def body_of(function):
    kind, _, argument = function.kind.partition(":")
    if kind in ("coll", "icoll", "neighbor", "ineighbor"):
        return collective(kind, argument, function.arguments)
    count = "count" if "count" in function.arguments else "1"
    bytes_ = f"B({count}, type)"
    fetched = "B(count2, type2)" if "count2" in function.arguments else bytes_
    sent = "0" if argument == "GET" else bytes_
    received = {"PUT": "0", "ACCUMULATE": "0"}.get(argument, fetched)
    body = KINDS[kind].replace("SENT", sent).replace("RECEIVED", received)
    return body.replace("ARGUMENT", argument)


def substitute(body, words):
    return re.sub(r"\b(" + "|".join(words) + r")\b", lambda match: words[match.group(1)], body)


def wrapped(functions):
    return [f for f in functions.values() if f.kind != "none" and f.returns == "int" and
            not any(t == "..." for t, _, _ in f.parameters) and
            not re.match(r"(T_|.*_(c2f|f2c|c2f08|f082c|f2f08|f082f|fromint|toint|FN)$)", f.name)]


def emit_real(functions):
    print("/* Generated by generate.py. MPI's own functions, found when the first is called. */")
    print("struct cts_mpi_real {")
    for name in functions:
        print(f"    __typeof__(&PMPI_{name}) {name};")
    print("};")
    print("#define CTS_MPI_REAL_NAMES(X) \\")
    print(" \\\n".join(f"    X({name})" for name in functions) + "\n")
    print("enum cts_mpi_function {")
    for function in wrapped(functions):
        print(f"    CTS_MPI_{function.name},")
    print("    CTS_MPI_FUNCTION_COUNT\n};")
    print("#define CTS_MPI_FUNCTIONS(X) \\")
    print(" \\\n".join(f"    X({f.name}, {ROLES[f.role]})" for f in wrapped(functions)))


def indent(body):
    text = re.sub(r"([;{}]) ", r"\1\n    ", body)
    return "    " + text


def emit_wrappers(functions):
    print('/* Generated by generate.py. */\n#include "record/mpi/wrap.h"\n')
    print("#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"")
    print("#pragma GCC diagnostic ignored \"-Wpedantic\"\n")
    for function in wrapped(functions):
        named, passed = [], []
        for (type_, name, suffix), role in zip(function.parameters, function.arguments):
            name = role if role != "_" else "mpi_" + name
            named.append(f"{type_} {name}{suffix}")
            passed.append(name)
        call = f"result = cts_real.{function.name}({', '.join(passed)});"
        body = substitute(body_of(function), {
            "CALL": call, "OWN_STATUSES": "CTS_OWN_STATUSES(statuses, n)",
            "OWN_STATUS": "CTS_OWN_STATUS(status)", "BASE": "0",
            "IN_PLACE": "(buffer == MPI_IN_PLACE)", "TYPED_SUM": "CTS_TYPED_SUM"})
        print(f"CTS_EXPORT int MPI_{function.name}({', '.join(named) or 'void'})\n{{")
        print(f"    struct cts_mpi_call call;\n    int result;")
        print(f"    if (!cts_call_enter(&call, CTS_MPI_{function.name}))"
              f" return cts_real.{function.name}({', '.join(passed)});")
        print(indent(body))
        print("    cts_call_leave(&call);\n    return result;\n}\n")


# Fortran: what its arguments are, and which handles the call makes.
FORTRAN_INTS = {"count", "count2", "peer", "peer2", "tag", "tag2", "root", "n", "scount", "rcount",
                "lock"}
FORTRAN_ARRAYS = {"scounts", "rcounts", "indices", "index", "flag", "outcount"}
OUTPUTS = {"isend": ["request"], "irecv": ["request"], "send_init": ["request"],
           "recv_init": ["request"], "imrecv": ["request"], "comm_create": ["newcomm"],
           "comm_join": ["newcomm"], "comm_idup": ["newcomm"], "win": ["win"],
           "rrma": ["request"], "mprobe": ["message"], "improbe": ["message"]}
HANDLES = {"request": ("MPI_Request", "Request"), "newcomm": ("MPI_Comm", "Comm"),
           "win": ("MPI_Win", "Win"), "message": ("MPI_Message", "Message"),
           "comm": ("MPI_Comm", "Comm"), "group": ("MPI_Group", "Group")}


def fortran_body(function, call, base):
    """Declares C's arguments before the call, and what it made after it."""
    kind = function.kind.partition(":")[0]
    made = OUTPUTS.get(kind, ["request"] if kind in ("icoll", "ineighbor") else [])
    before, after = [], [call]
    for role in function.arguments:
        if role in FORTRAN_INTS:
            before.append(f"const int {role} = *f_{role};")
        elif role in FORTRAN_ARRAYS:
            before.append(f"const MPI_Fint *const {role} = f_{role};")
        elif role in ("type", "type2", "stype", "rtype"):
            before.append(f"const MPI_Datatype {role} = CTS_F2C(Type, *f_{role});")
        elif role in ("stypes", "rtypes", "buffer"):
            before.append(f"const MPI_Fint *const {role} = f_{role};")
        elif role == "requests":
            before.append("MPI_Request *const requests = "
                          "cts_fortran_requests(n, f_requests);")
        elif role in HANDLES:
            type_, name = HANDLES[role]
            pointer = role in ("request", "message", "newcomm") or kind in ("comm_free", "win_free") \
                or kind == "win" and role == "win"
            convert = f"CTS_F2C({name}, *f_{role})"
            if not pointer:
                before.append(f"const {type_} {role} = {convert};")
            elif role in made:
                after.append(f"const {type_} c_{role} = {convert}; "
                             f"const {type_} *const {role} = &c_{role}; (void){role};")
            else:
                before.append(f"const {type_} c_{role} = {convert}; "
                              f"const {type_} *const {role} = &c_{role}; (void){role};")
    if "status" in function.arguments:
        before.append("CTS_OWN_FORTRAN_STATUS(f_status)")
        after.append("CTS_FORTRAN_STATUS(status, f_status)")
    if "statuses" in function.arguments:
        before.append("CTS_OWN_FORTRAN_STATUSES(f_statuses, n)")
        after.append("MPI_Status *const statuses = cts_fortran_statuses(n, f_statuses);")
    body = substitute(body_of(function), {
        "OWN_STATUSES": "", "OWN_STATUS": "", "CALL": " ".join(after), "BASE": base,
        "IN_PLACE": "cts_fortran_is_in_place(buffer)", "TYPED_SUM": "CTS_FORTRAN_TYPED_SUM"})
    return " ".join(before) + " " + body


def fortran_parameters(function):
    """(declarations, names, declarations and names of what follows the error): everything by
    reference, then the error, then the lengths of texts by value."""
    if function.kind == "init":
        names = [f"f_argument{i}" for i in range(len(function.parameters) - 2)]
    else:
        names = [f"f_{r}" if r != "_" else f"f_argument{i}"
                 for i, r in enumerate(function.arguments)]
    texts = sum("char" in type_ for type_, _, _ in function.parameters)
    return (", ".join(f"MPI_Fint *{n}" for n in names), ", ".join(names),
            "".join(f", size_t length{i}" for i in range(texts)),
            "".join(f", length{i}" for i in range(texts)))


def has_buffer(function):
    return any("void" in type_ and name != "baseptr" for type_, name, _ in function.parameters)


def fortran_symbols(function):
    """The mpi module has another function where memory comes back as a type(c_ptr)."""
    lower = function.name.lower()
    pointer = any(name == "baseptr" for _, name, _ in function.parameters)
    return [f"mpi_{lower}_", f"mpi_{lower}_f08_"] + [f"mpi_{lower}_cptr_"] * pointer


def f08_symbols(function):
    """Of MPICH's mpi_f08: those with large counts have a suffix of their own."""
    lower = function.name.lower()
    large = lower.endswith("_c")
    return [f"mpi_{lower[:-2]}_f08_large_" if large else f"mpi_{lower}_f08_"]


def emit_fortran(functions, symbols_of=fortran_symbols, base="1"):
    print('/* Generated by generate.py. */\n#include "record/mpi/fortran.h"\n')
    print("#pragma GCC diagnostic ignored \"-Wunused-variable\"")
    print("#pragma GCC diagnostic ignored \"-Wmissing-prototypes\"\n")
    for function in wrapped(functions):
        if function.kind == "plain" and function.role != "p2p":
            continue
        types, names, length_types, lengths = fortran_parameters(function)
        comma = ", " if names else ""
        lower = function.name.lower()
        parameters = f"{types}{comma}MPI_Fint *f_error{length_types}"
        call = f"real({names}{comma}&error{lengths}); result = error;"
        body = fortran_body(function, call, base)
        print(f"typedef void fortran_{lower}({parameters});")
        print(f"static void wrap_{lower}(fortran_{lower} *const real, {parameters})\n{{")
        print(f"    struct cts_mpi_call call;\n    MPI_Fint error = MPI_SUCCESS;\n    int result;")
        print(f"    if (!cts_call_enter(&call, CTS_MPI_{function.name})) "
              f"{{ real({names}{comma}f_error{lengths}); return; }}")
        print(indent(body))
        print("    cts_call_leave(&call);\n    (void)result;\n    if (f_error) *f_error = error;\n}")
        for symbol in symbols_of(function):
            print(f"CTS_EXPORT void {symbol}({parameters})\n{{")
            print(f"    static _Atomic(void *) cache;")
            print(f"    wrap_{lower}((fortran_{lower} *)cts_fortran_real(&cache, \"{symbol}\"), "
                  f"{names}{comma}f_error{lengths});\n}}")
        print()


def emit_f08(functions):
    bare = {name: f for name, f in functions.items() if not has_buffer(f)}
    emit_fortran(bare, f08_symbols, "cts_f08_index_base()")


def main():
    table, header, what, output = sys.argv[1:]
    functions = read_header(header)
    if "Init" not in functions:
        sys.exit(f"{header}: no prototypes of PMPI functions")
    read_table(table, functions)
    emit = {"real": emit_real, "wrappers": emit_wrappers, "fortran": emit_fortran,
            "f08": emit_f08}[what]
    with open(output, "w") as file, contextlib.redirect_stdout(file):
        emit(functions)


main()
