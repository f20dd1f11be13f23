"""warm_up compiles what later calls need, and nothing that is not asked for."""

import os
import subprocess
import sys

import pytest

import causaleval_pd as ce

SCRIPT = """
import sys
from numba.core import event
import causaleval_pd as ce

compiled = []

class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
if sys.argv[1] == "warm":
    ce.warm_up(["shd", "v_structure_f1"])
table = ce.datasets.runs().query("algorithm in ['pc', 'lingam']").groupby("algorithm").head(3)
table.ceval.with_controls(["shd", "v_structure_f1"], n_draws=5, rng=0)
table = table.head(1).assign(
    truth=["A -> C; B -> C; L -> C; L -> D"], estimate=ce.graph_column(["A o-> C; B o-> C; D o-> C"], kind="pag")
)
table.ceval.with_controls(["shd", "v_structure_f1"], n_draws=5, rng=0, context={"latents": ["L"]})
sys.stdout.write(" ".join(compiled))
"""


def compiled(how, cache):
    command = [sys.executable, "-c", SCRIPT, how]
    done = subprocess.run(
        command, env=os.environ | {"NUMBA_CACHE_DIR": str(cache)}, stdout=subprocess.PIPE, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.slow
def test_later_processes_compile_nothing(tmp_path):
    first = compiled("warm", tmp_path)
    assert {"_adjacency_counts", "_collider_counts", "_draw"} <= first
    assert {"_project", "_convert", "_type_counts"} & first == {"_project", "_convert"}
    assert not first & {"_sid_bounds", "_adjustment_mistakes"}  # not asked for
    assert compiled("use", tmp_path) == set()


def test_unknown_metrics_are_refused():
    with pytest.raises(ValueError, match="shdd"):
        ce.warm_up(["shdd"])


def test_metrics_of_fields_without_kernels_need_nothing():
    assert ce.warm_up(["answer_accuracy", "kl"]) is None


@pytest.mark.slow
def test_metrics_of_data_get_data():
    assert ce.warm_up(["separation_share", "bic"]) is None


@pytest.mark.slow
@pytest.mark.parametrize("metrics", [None, "all"])
def test_every_field_has_tables_of_its_own(metrics):
    assert ce.warm_up(ce.list_metrics().index if metrics == "all" else None) is None
