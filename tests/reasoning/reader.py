"""An independent reader of prompts: grammar of the English text only; it knows no world, theme or template."""

import re

FAMILIES = re.compile(r"(\w+) has (\w+), (\w+), (\w+) and (\w+)")

#: a statement about a node, in statements, questions and suppositions: (pattern, name of the statement)
STATEMENTS = [
    (r"(?P<n>\w+) (?:sings|does sing)|does (?P<q>\w+) sing(?: then)?", "sings"),
    (r"(?P<n>\w+) (?:digs a bed|does dig a bed)|does (?P<q>\w+) dig a bed(?: then)?", "digs"),
    (r"(?P<n>\w+) (?:accepts|does accept) the jab|does (?P<q>\w+) accept the jab(?: then)?", "accepts"),
    (r"gene (?P<n>\w+) is active|is gene (?P<q>\w+) active(?: then)?", "active"),
    (r"lamp (?P<n>\w+) is lit|is lamp (?P<q>\w+) lit(?: then)?", "lit"),
    (r"the (?P<n>pain) is severe", "severe"),
    (r"(?P<n>surgery) is advised", "advised"),
    (r"(?P<n>(?:lab value|vital sign) \w+) is raised", "raised"),
]


def statement(text):
    """Return (node, statement, is it affirmed) of a clause or a question, or None."""
    text = text.strip().rstrip("?.")
    plain = re.sub(r"\b(is it (?:then )?the case that )", "", text, flags=re.IGNORECASE)
    affirmed = re.sub(r"\b(is|does) not\b", r"\1", plain)
    for pattern, name in STATEMENTS:
        if match := re.fullmatch(pattern, affirmed, re.IGNORECASE):
            node = match.group("n") or match.groupdict().get("q")
            return node.lower(), name, affirmed == plain
    return None


def condition_holds(clause, told, families):
    """Read from what is told of a sample whether a condition holds."""
    if match := re.fullmatch(r"(\w+) was handed at least (\d+) toffees", clause):
        return int(re.search(rf"\b{match[1]} was handed (\d+) toffees\.", told)[1]) >= int(match[2])
    if match := re.fullmatch(r"at least (\d+) of the 12 docking sites of (\w+) are free", clause):
        return int(re.search(rf"Free docking sites of {match[2]}: (\d+) of 12\.", told)[1]) >= int(match[1])
    if match := re.fullmatch(r"the packet of (\w+) has a shade of (\w+)", clause):
        return families[re.search(rf"The packet of {match[1]} is (\w+)\.", told)[1]] == match[2]
    if match := re.fullmatch(r"(\w+) had (.+) for at least (\d+) days or had (.+) for at least (\d+) days", clause):
        ailments = re.search(rf"Last winter {match[1]} had ([^.]+)\.", told)[1]
        days = {name: int(n) for name, n in re.findall(r"(?:^|, )([a-z ]+) for (\d+) days?", ailments)}
        return days[match[2]] >= int(match[3]) or days[match[4]] >= int(match[5])
    if match := re.fullmatch(r"the pain score is at least (\d+) of 10", clause):
        return int(re.search(r"Pain score: (\d+) of 10\.", told)[1]) >= int(match[1])
    for pattern, heading in [
        (r"the patient carries gene variant (\w+)", "Gene variants found"),
        (r"illness (\w+) runs in the family", "Illnesses in the family"),
        (r"the patient once had operation (\w+)", "Earlier operations"),
    ]:
        if match := re.fullmatch(pattern, clause):
            return match[1] in re.search(rf"{heading}: ([^.]+)\.", told)[1].split(", ")
    raise AssertionError(f"not understood: {clause}")


def read_rules(world):
    """Return (statement, how its clauses are joined, clauses) of each rule, in the order of the text."""
    rules = []
    for sentence in re.split(r"(?<=\.) ", world):
        head, found, body = sentence.partition(" if, and only if, ")
        if not found:
            continue
        joined, marked, clauses = body.rstrip(".").partition(" hold: ")
        if not marked:
            joined, marked, clauses = body.rstrip(".").partition(" holds: ")
        if not marked:
            joined, marked, clauses = body.rstrip(".").partition(" hold (1, 3, 5 ...): ")
        if not marked:
            joined, clauses = "all of these", body.rstrip(".")
        rules.append((statement(head)[:2], joined, clauses.split("; ")))
    return rules


JOINS = {"all of these": all, "at least one of these": any, "an odd number of these": lambda bits: sum(bits) % 2 == 1}


def evaluate(rules, holds, supposed):
    """Compute all statements; `holds` says whether a condition holds."""
    values = {}
    for head, joined, clauses in rules:
        parts = []
        for clause in clauses:
            about = statement(clause)
            parts.append(holds(clause) if about is None else values[about[:2]])
        values[head] = supposed.get(head, JOINS[joined](parts))
    return values


def read_supposition(text):
    match = re.search(r"Suppose (?:that|a treatment has the effect that) (.+?), whatever", text)
    if match is None:
        assert "Suppose" not in text
        return {}
    *about, affirmed = statement(match[1])
    return {tuple(about): affirmed}


def answer(prompt):
    """Answer a prompt whose context tells every condition."""
    world, told, question = prompt.split("\n\n")
    families = {shade: f for f, *shades in FAMILIES.findall(world) for shade in shades}
    rules = read_rules(world)
    asked = re.split(r"(?<=\.) ", question)[-1]
    supposed = read_supposition(question)
    values = evaluate(rules, lambda clause: condition_holds(clause, told, families), supposed)
    *about, affirmed = statement(asked)
    return values[tuple(about)] == affirmed
