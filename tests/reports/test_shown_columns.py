from __future__ import annotations

import causaleval_pd as ce
from causaleval_pd.reports.shown_columns import LEFT_OUT, MARKS, ROW_VERBS, SHOWN


def test_every_verb_is_recognised_and_shows_columns_of_its_own():
    assert set(MARKS) | set(ROW_VERBS) == set(SHOWN)
    for verb, columns in SHOWN.items():
        headers = [x.header for x in columns]
        assert len(set(headers)) == len(headers), verb
        assert not {x.name for x in columns} & LEFT_OUT.get(verb, set()), verb


def test_columns_of_a_model_are_shown_or_left_out():
    cube = ce.datasets.runs().query("n == 400").ceval.cube(["shd"], by=["algorithm"], n_draws=None)
    table = cube.ceval.model("shd ~ algorithm")
    known = {name for x in SHOWN["model"] for name in (x.name, *(x.limits or ()))} | LEFT_OUT["model"]
    assert set(table) <= known | {"metric", "statistic"}
