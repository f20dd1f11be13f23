"""Themes: a reader who knows nothing but the prompt answers every question as the world does."""

from __future__ import annotations

import re

import pytest

from causaleval_pd.reasoning import THEMES, Theme, World, get_theme, make_tasks
from causaleval_pd.reasoning.tasks.built_in_themes import SHADES

RULE = re.compile(r"(.+?) if, and only if, (all of these hold: |at least one of these holds: )?(.+)", re.DOTALL)


def holds(clause, sample):
    """Decide from the sample's text whether a clause about a node's own noise is true; None if it is about a node."""
    if match := re.fullmatch(r"(\w+) was handed at least (\d+) toffees", clause):
        return int(re.search(rf"\b{match[1]} was handed (\d+) toffees", sample)[1]) >= int(match[2])
    if match := re.fullmatch(r"at least (\d+) of the 12 docking sites of (\w+) are free", clause):
        return int(re.search(rf"docking sites of {match[2]}: (\d+) of 12", sample)[1]) >= int(match[1])
    if match := re.fullmatch(r"the packet of (\w+) has a shade of (\w+)", clause):
        return re.search(rf"packet of {match[1]} is (\w+)", sample)[1] in SHADES[match[2]]
    if match := re.fullmatch(r"(\w+) had (.+) or (.+) for at least (\d+) days", clause):
        told = re.search(rf"{match[1]} had ([^.]+)\.", sample)[1]
        days = {s: int(d) for s, d in re.findall(r"(?:^|, )([a-z ]+) for (\d+) day", told)}
        return max(days[match[2]], days[match[3]]) >= int(match[4])
    if match := re.fullmatch(r"the pain score is at least (\d+) of 10", clause):
        return int(re.search(r"Pain score: (\d+) of 10", sample)[1]) >= int(match[1])
    for words, heading in [
        ("the patient carries gene variant", "Gene variants found"),
        ("illness", "Illnesses in the family"),
        ("the patient once had operation", "Earlier operations"),
    ]:
        if match := re.fullmatch(rf"{words} (\w\d\w\d)(?: runs in the family)?", clause):
            return match[1] in re.search(rf"{heading}: ([^.]+)\.", sample)[1].split(", ")
    return None


SETTINGS = [
    (r"Suppose (\w+) is (talked into|kept from) singing", "talked into"),
    (r"Suppose the committee (has|forbids) (\w+) (?:to )?dig", "has"),
    (r"Suppose (\w+) (is obliged to accept|has to decline) the jab", "is obliged to accept"),
    (r"Suppose the laboratory (switches|silences) gene (\w+)", "switches"),
    (r"Suppose somebody (lights|puts out) lamp (\w+)", "lights"),
    (r"Suppose a treatment has the effect that (?:the )?(.+?) (is not|is) (?:raised|severe|advised)", "is"),
]


def read_setting(question):
    """Read which node is set to what."""
    for pattern, yes in SETTINGS:
        if match := re.match(pattern, question):
            node = next(group for group in match.groups() if group not in PHRASES)
            return {node: yes in match.groups()}
    assert "Suppose" not in question
    return {}


PHRASES = {
    "talked into",
    "kept from",
    "has",
    "forbids",
    "is obliged to accept",
    "has to decline",
    "switches",
    "silences",
}
PHRASES |= {"lights", "puts out", "is not", "is"}


def read_and_answer(prompt, theme, nodes):
    """Answer one prompt from its words."""
    told, sample, question = prompt.split("\n\n")
    said = {theme.say(node).lower(): node for node in nodes}
    rules = [match.groups() for sentence in told.split(". ") if (match := RULE.fullmatch(sentence.rstrip(".")))]
    assert len(rules) == len(nodes)
    asked = {template.format(node=n, state=theme.say(n)): n for n in nodes for template in (theme.question, theme.then)}
    do = read_setting(question)
    assert do.keys() <= set(nodes)
    values = {}
    for head, which, clauses in rules:
        node = said[head.lower()]
        parts = []
        for clause in clauses.split("; "):
            own = holds(clause, sample)
            parts.append(values[said[clause.lower()]] if own is None else own)
        values[node] = (any if which and "one" in which else all)(parts)
        if node in do:
            values[node] = do[node]
    effect = [node for text, node in asked.items() if question.removesuffix(" Say yes or no.").endswith(text)]
    assert len(set(effect)) == 1
    return values[effect[0]], bool(do)


@pytest.mark.parametrize("detail", [True, False])
@pytest.mark.parametrize("name", THEMES)
def test_a_reader_of_the_words_gives_the_true_answers(name, detail):
    tasks = make_tasks(name, [[4, 3], [3, 2, 4]], "mixed", n_tasks=2, n_samples=12, replicates=2, detail=detail, rng=6)
    rows = tasks.questionnaire()
    prompts = tasks.prompts(rows, "Say yes or no.")
    for task in tasks.tasks:
        mine = rows["task"] == task.number
        for prompt, truth, world in zip(prompts[mine], rows.loc[mine, "truth"], rows.loc[mine, "world"], strict=True):
            assert read_and_answer(prompt, task.theme, task.world.nodes) == (truth, world != "fact"), prompt


@pytest.mark.parametrize("name", THEMES)
def test_noise_has_its_rate_and_details_add_words(name):
    short, long = (make_tasks(name, [[4, 4]], n_samples=300, detail=d, rng=2).contexts for d in (False, True))
    assert (short["noise"] == long["noise"]).all()
    assert (short["text"].str.len() < long["text"].str.len()).all()
    assert long["text"].nunique() == 300


@pytest.mark.slow
def test_names_are_different_and_made_up():
    for theme in THEMES.values():
        tasks = make_tasks(theme, [[30] * 20], n_samples=1, rng=0)
        assert tasks.nodes["node"].is_unique
        assert len(tasks.nodes) == 581
    clinical = make_tasks("clinical_notes", [[4, 3]], n_samples=1, rng=0).tasks[0].world
    assert (clinical.nodes[0], clinical.nodes[-1]) == ("pain", "surgery")


def test_a_threshold_does_not_give_the_rate_away():
    tasks = make_tasks("candy_party", [[6, 6]], n_tasks=60, n_samples=1, rng=3)
    threshold = tasks.nodes["condition"].str.extract(r"at least (\d+)")[0].astype(int)
    assert abs(threshold.corr(tasks.nodes["noise"])) < 0.12


def test_flu_symptoms_that_do_not_count_say_nothing():
    tasks = make_tasks("flu_vaccine", [[2]], n_samples=4000, noise=0.5, rng=1)
    contexts = tasks.contexts
    first = tasks.tasks[0].conditions[0]
    counted = [int(part) for part in first.group.split()[:2]]
    symptoms = ("fever", "chills", "a cough", "a sore throat", "headaches", "sneezing")
    told = contexts["text"].str.split("Last winter").str[1]
    for i, symptom in enumerate(symptoms):
        days = told.str.extract(rf"{symptom} for (\d) day")[0].astype(int)
        related = abs(days.corr(contexts["noise"].str[0].astype(int)))
        assert related > 0.3 if i in counted else related < 0.08
    assert told.str.match(r" \w+ had fever").mean() == pytest.approx(1 / 6, abs=0.03), "any order"


def test_a_theme_of_your_own():
    lamps = Theme(
        name="lamps",
        intro="Lamps hang in a row.",
        closing="Nothing else matters.",
        state="lamp {node} is lit",
        question="Is lamp {node} lit?",
        set_true="Suppose somebody lights lamp {node}.",
        set_false="Suppose somebody puts out lamp {node}.",
        then="Is lamp {node} lit then?",
        own="{node} was handed at least {threshold} toffees",
        seen="{node} was handed {value} toffees.",
        thresholds=(1, 9),
        values=(0, 9),
    )
    world = World([("a", "b"), ("c", "b")], {"b": "and"}, {"a": 0.5, "b": 0.9, "c": 0.5})
    with pytest.raises(ValueError, match="needs one root"):
        make_tasks(lamps, worlds=[world])
    tasks = make_tasks(lamps, worlds=[world], pairs="all", n_samples=50, rng=0)
    rows = tasks.questionnaire()
    for prompt, truth in zip(tasks.prompts(rows, "Say yes or no."), rows["truth"], strict=True):
        assert read_and_answer(prompt, lamps, world.nodes)[0] == truth


def test_a_subclass_tells_samples_its_own_way():
    class Loud(Theme):
        def say(self, node):
            return super().say(node).upper()

    theme = get_theme("candy_party")
    loud = Loud(**{name: getattr(theme, name) for name in theme.__dataclass_fields__})
    assert "SINGS IF" not in make_tasks(loud, [[2]], n_samples=1, rng=0).worlds["text"][0]
    assert "SINGS if, and only if" in make_tasks(loud, [[2]], n_samples=1, rng=0).worlds["text"][0]


def test_unknown_themes_are_refused():
    with pytest.raises(ValueError, match="did you mean 'candy_party'"):
        get_theme("candy")


def test_clinical_decoys_are_details():
    code = r"\b[A-Z]\d[A-Z]\d\b"
    for detail in (False, True):
        tasks = make_tasks("clinical_notes", [[5, 5]], n_samples=200, detail=detail, rng=4)
        ruled = set(tasks.worlds["text"].str.findall(code).explode())
        told = set(tasks.contexts["text"].str.findall(code).explode().dropna())
        decoys = told - ruled
        assert len(decoys) == (12 if detail else 0)
        assert len(told & ruled) == 8, "the code of every node but the root"
