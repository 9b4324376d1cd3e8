"""The part of SARIF 2.1.0 (OASIS Standard, sections 3.13 to 3.58) that ctascope writes: the members of each
object, their types, and which must be there. check(log) raises ValueError that names the place of what is
wrong; members that are not in the table are wrong, too."""

import re

LEVELS = {"none", "note", "warning", "error"}
STATES = {"new", "unchanged", "updated", "absent"}


def text(value):
    return isinstance(value, str) and value != ""


def uri(value):
    """A URI reference of RFC 3986: its characters and percent signs."""
    return text(value) and re.fullmatch(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+", value)


def base_uri(value):
    return uri(value) and value.endswith("/") and re.match(r"[a-z][a-z0-9+.\-]*:", value)


def number_from(least):
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def rank(value):
    return isinstance(value, (int, float)) and 0 <= value <= 100


def one_of(words):
    return lambda value: value in words


def texts(value):
    return isinstance(value, dict) and value and all(text(v) for v in value.values())


# Per object: member -> (its check, or the name of an object, or ["that of each element"]); "!" in front: required.
OBJECTS = {
    "log": {"!version": one_of({"2.1.0"}), "$schema": uri, "!runs": ["run"]},
    "run": {"!tool": "tool", "originalUriBaseIds": {"": "base"}, "invocations": ["invocation"], "results": ["result"]},
    "tool": {"!driver": "component"},
    "component": {"!name": text, "semanticVersion": lambda v: re.fullmatch(r"\d+\.\d+\.\d+\S*", v), "rules": ["rule"]},
    "rule": {"!id": text, "shortDescription": "multiformat", "fullDescription": "multiformat", "help": "multiformat",
             "defaultConfiguration": "configuration", "properties": "bag"},
    "multiformat": {"!text": text},
    "configuration": {"level": one_of(LEVELS)},
    "bag": {"tags": [text]},
    "base": {"uri": base_uri},
    "invocation": {"!executionSuccessful": lambda v: isinstance(v, bool), "toolExecutionNotifications": ["notification"]},
    "notification": {"!message": "message", "level": one_of(LEVELS)},
    "message": {"!text": text},
    "result": {"ruleId": text, "ruleIndex": number_from(0), "level": one_of(LEVELS), "baselineState": one_of(STATES),
               "!message": "message", "locations": ["location"], "relatedLocations": ["location"],
               "partialFingerprints": texts, "rank": rank},
    "location": {"physicalLocation": "physical", "logicalLocations": ["logical"], "message": "message"},
    "physical": {"!artifactLocation": "artifact", "region": "region"},
    "artifact": {"!uri": uri, "uriBaseId": text},
    "region": {"!startLine": number_from(1), "startColumn": number_from(1)},
    "logical": {"fullyQualifiedName": text, "kind": one_of({"function"})},
}


def check_value(value, kind, place):
    if isinstance(kind, str):
        check_object(value, kind, place)
    elif isinstance(kind, list):
        if not isinstance(value, list):
            raise ValueError(f"{place} is no array")
        for i, element in enumerate(value):
            check_value(element, kind[0], f"{place}[{i}]")
    elif isinstance(kind, dict):
        for key, element in value.items():
            check_value(element, kind[""], f"{place}.{key}")
    elif not kind(value):
        raise ValueError(f"{place} is {value!r}")


def check_object(value, name, place):
    if not isinstance(value, dict):
        raise ValueError(f"{place} is no object")
    members = {key.lstrip("!"): kind for key, kind in OBJECTS[name].items()}
    for key in OBJECTS[name]:
        if key[0] == "!" and key[1:] not in value:
            raise ValueError(f"{place} lacks '{key[1:]}'")
    for key, member in value.items():
        if key not in members:
            raise ValueError(f"{place} has a member '{key}'")
        check_value(member, members[key], f"{place}.{key}")


def check_references(run, place):
    """What the table cannot say: rules and base directories exist, and ids are used once."""
    ids = [rule["id"] for rule in run["tool"]["driver"].get("rules", [])]
    if len(set(ids)) != len(ids):
        raise ValueError(f"{place}: two rules have one id")
    prints = set()
    for i, result in enumerate(run.get("results", [])):
        where = f"{place}.results[{i}]"
        if ids[result["ruleIndex"]] != result["ruleId"]:
            raise ValueError(f"{where}: rule {result['ruleIndex']} is not '{result['ruleId']}'")
        for location in result.get("locations", []) + result.get("relatedLocations", []):
            artifact = location["physicalLocation"]["artifactLocation"]
            base = artifact.get("uriBaseId")
            if base is None and not artifact["uri"].startswith("file:///"):
                raise ValueError(f"{where}: '{artifact['uri']}' has no base")
            if base is not None and (base not in run["originalUriBaseIds"] or artifact["uri"].startswith("/")):
                raise ValueError(f"{where}: '{artifact['uri']}' is not below '{base}'")
        mark = tuple(sorted(result["partialFingerprints"].items())), result.get("baselineState") == "absent"
        if mark in prints:
            raise ValueError(f"{where}: a fingerprint that another result has")
        prints.add(mark)


def check(log):
    check_object(log, "log", "log")
    for i, run in enumerate(log["runs"]):
        check_references(run, f"log.runs[{i}]")
