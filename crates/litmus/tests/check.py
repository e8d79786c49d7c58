"""Compares the model with NVIDIA's own definition of it, in Alloy: the file ptx.als of the repository
NVlabs/ptxmemorymodel. This script reads that file, and evaluates its formulas for each candidate
execution of the library:

    cargo run -q -p litmus --example executions > executions.jsonl
    python3 crates/litmus/tests/check.py PTXMEMORYMODEL executions.jsonl

It needs nothing but Python. Relations are sets of tuples.
"""
import json
import re
import sys

TOKEN = re.compile(r"\s+|//[^\n]*|/\*.*?\*/|(<:|:>|->|=>|[A-Za-z_][\w/]*|[~^*.&+\-\[\](){}:,|=#])", re.S)
WORDS = {"no", "some", "one", "lone", "all", "and", "or", "not", "in", "iden", "univ", "none", "disj"}


def tokens(text):
    return [found.group(1) for found in TOKEN.finditer(text) if found.group(1)]


class Definitions:
    """The functions and predicates of the files: name -> (parameters, tokens of the body)."""

    def __init__(self, folder):
        self.all = {}
        for name in ("util.als", "ptx.als"):
            self.read(tokens(open(f"{folder}/{name}").read()))

    def read(self, all):
        at = 0
        while at < len(all):
            if all[at] in ("fun", "pred") and all[at + 1] not in WORDS:
                name, at = all[at + 1], at + 2
                parameters = []
                if all[at] == "[":
                    end = all.index("]", at)
                    inside, at = all[at + 1:end], end + 1
                    # Names stand before each colon, between commas.
                    names = []
                    for place, token in enumerate(inside):
                        if token == ":":
                            names.append(inside[place - 1])
                            back = place - 2
                            while back > 0 and inside[back] == "," and (back < 2 or inside[back - 2] in (",",) or back == 1):
                                names.insert(len(names) - 1, inside[back - 1])
                                back -= 2
                    parameters = names
                while all[at] != "{":
                    at += 1
                depth, start = 1, at + 1
                while depth:
                    at += 1
                    depth += {"{": 1, "}": -1}.get(all[at], 0)
                self.all[name] = (parameters, all[start:at])
            at += 1


class Evaluator:
    """Evaluates expressions in an instance: names -> sets of tuples."""

    def __init__(self, definitions, instance, atoms):
        self.definitions, self.instance, self.atoms = definitions, instance, atoms
        self.known = {}

    def call(self, name, arguments=()):
        if not arguments and name in self.known:
            return self.known[name]
        parameters, body = self.definitions.all[name]
        assert len(parameters) == len(arguments), (name, parameters, arguments)
        result = Parser(self, body, dict(zip(parameters, arguments))).formula()
        if not arguments:
            self.known[name] = result
        return result

    def value(self, name, local):
        if name in local:
            return local[name]
        if name == "iden":
            return {(atom, atom) for atom in self.atoms}
        if name in self.instance:
            return self.instance[name]
        return self.call(name)


def join(a, b):
    by_first = {}
    for pair in b:
        by_first.setdefault(pair[0], []).append(pair[1:])
    return {one[:-1] + rest for one in a for rest in by_first.get(one[-1], ())}


def closure(relation):
    all = set(relation)
    while True:
        more = all | join(all, all)
        if more == all:
            return all
        all = more


class Parser:
    """A recursive descent over a body, which evaluates as it reads."""

    def __init__(self, evaluator, body, local):
        self.evaluator, self.body, self.local, self.at = evaluator, body, local, 0

    def peek(self):
        return self.body[self.at] if self.at < len(self.body) else None

    def take(self, token=None):
        assert token is None or self.peek() == token, (token, self.body[self.at:], self.body)
        self.at += 1
        return self.body[self.at - 1]

    def formula(self):
        result = self.conjunct()
        while self.peek() == "and":
            self.take()
            right = self.conjunct()
            result = result and right
        return result

    def conjunct(self):
        if self.peek() in ("no", "some"):
            quantifier = self.take()
            value = self.union()
            return not value if quantifier == "no" else bool(value)
        left = self.union()
        if self.peek() in ("in", "="):
            operator = self.take()
            right = self.union()
            return left <= right if operator == "in" else left == right
        return left

    def union(self):
        result = self.intersection()
        while self.peek() in ("+", "-"):
            operator = self.take()
            right = self.intersection()
            result = result | right if operator == "+" else result - right
        return result

    def intersection(self):
        result = self.product()
        while self.peek() == "&":
            self.take()
            result = result & self.product()
        return result

    def product(self):
        result = self.restriction()
        while self.peek() == "->":
            self.take()
            right = self.restriction()
            result = {a + b for a in result for b in right}
        return result

    def restriction(self):
        result = self.joined()
        while self.peek() in ("<:", ":>"):
            operator = self.take()
            right = self.joined()
            if operator == "<:":
                first = {one[0] for one in result}
                result = {pair for pair in right if pair[0] in first}
            else:
                last = {one[0] for one in right}
                result = {pair for pair in result if pair[-1] in last}
        return result

    def joined(self):
        result = self.unary()
        while self.peek() == ".":
            self.take()
            result = join(result, self.unary())
        return result

    def unary(self):
        if self.peek() in ("~", "^", "*"):
            operator = self.take()
            value = self.unary()
            if operator == "~":
                return {(b, a) for a, b in value}
            value = closure(value)
            return value if operator == "^" else value | {(atom, atom) for atom in self.evaluator.atoms}
        return self.primary()

    def primary(self):
        if self.peek() in ("(", "{"):
            end = {"(": ")", "{": "}"}[self.take()]
            value = self.formula()
            self.take(end)
            return value
        name = self.take()
        if self.peek() == "[" and name not in self.local and name not in self.evaluator.instance:
            self.take()
            arguments = [self.union()]
            while self.peek() == ",":
                self.take()
                arguments.append(self.union())
            self.take("]")
            return self.evaluator.call(name, arguments)
        return self.evaluator.value(name, self.local)


def instance(execution):
    """The execution as Alloy's signatures and fields."""
    events = {number: execution["events"][number] for number in execution["present"]}
    scopes, subscope = {("system",)}, set()

    def scope_of(event, kind):
        names = {
            "thread": ("thread", event["thread"]),
            "block": ("block", event["block"]),
            "cluster": ("cluster", event["cluster"]),
            "gpu": ("gpu", event["gpu"]),
            "system": "system",
        }
        return names[kind]

    order = ["thread", "block", "cluster", "gpu", "system"]
    for event in events.values():
        for small, large in zip(order, order[1:]):
            subscope.add((scope_of(event, large), scope_of(event, small)))
            scopes.add((scope_of(event, small),))
    threads = sorted({event["thread"] for event in events.values()})
    po, start = set(), set()
    for thread in threads:
        own = [number for number, event in sorted(events.items()) if event["thread"] == thread]
        start.add((("thread", thread), own[0]))
        po |= set(zip(own, own[1:]))

    def those(holds):
        return {(number,) for number, event in events.items() if holds(event)}

    kind = lambda name: those(lambda event: event["kind"] == name)
    rmw = {(number - 1, number) for number, event in events.items() if event["atomic"]}
    barriers = lambda name: {n: e for n, e in events.items() if e["kind"].startswith(name)}
    synchronizes = {
        (a, b)
        for a, ea in barriers("Arrival").items()
        for b, eb in barriers("Wait").items()
        if ea["block"] == eb["block"] and ea["kind"][7:] == eb["kind"][4:]
    }
    rf = {tuple(pair) for pair in execution["rf"]}
    fields = {
        "Scope": scopes, "subscope": subscope, "start": start, "po": po,
        "Thread": {(("thread", thread),) for thread in threads},
        "scope": {(number, scope_of(event, event["scope"])) for number, event in events.items()},
        "Event": those(lambda event: True),
        "MemoryEvent": those(lambda event: event["variable"] >= 0),
        "Read": kind("Read"), "Write": kind("Write"),
        "Acquire": those(lambda event: event["kind"] == "Read" and event["acquires"]),
        "Release": those(lambda event: event["kind"] == "Write" and event["releases"]),
        "FenceAcq": set(), "FenceRel": set(),
        "FenceAcqRel": kind("Fence") | kind("SequentialFence"), "FenceSC": kind("SequentialFence"),
        "BarrierArrive": {(n,) for n in barriers("Arrival")}, "BarrierWait": {(n,) for n in barriers("Wait")},
        "address": {(n, ("variable", e["variable"])) for n, e in events.items() if e["variable"] >= 0},
        "rf": rf, "co": {tuple(pair) for pair in execution["co"]}, "sc": {tuple(pair) for pair in execution["sc"]},
        "rmw": rmw,
        "dep": rmw | {(load, number) for number, event in events.items() for load in event["depends"]},
        "synchronizes": synchronizes,
    }
    atoms = {one[0] for one in fields["Event"] | scopes} | {pair[1] for pair in fields["address"]}
    return fields, atoms


def main(folder, file):
    definitions = Definitions(folder)
    count = wrong = 0
    names = set()
    for line in open(file):
        execution = json.loads(line)
        fields, atoms = instance(execution)
        evaluator = Evaluator(definitions, fields, atoms)
        # The smallest relation that the facts on observation allow.
        observation = evaluator.call("strong", [fields["rf"]])
        while True:
            more = observation | join(join(observation, fields["rmw"]), observation)
            if more == observation:
                break
            observation = more
        fields["observation"] = observation
        evaluator.known.clear()
        allowed = evaluator.call("ptx_mm")
        count += 1
        names.add(execution["name"])
        if allowed != execution["allowed"]:
            wrong += 1
            axioms = {name: evaluator.call(name) for name in ("no_thin_air", "location_sc", "atomicity", "coherence", "causality")}
            print(f"{execution['name']}: Alloy {allowed} {axioms}, here {execution['allowed']}: {line.strip()[:300]}")
    print(f"{count} executions of {len(names)} tests: {count - wrong} as by ptx.als, {wrong} not")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
