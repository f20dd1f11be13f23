"""Cubes that xarray reshaped: every operation and verb, against a cube made of the same runs and against counts."""

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.cubes.reshaped import describe_cube, read_cube

METRICS = ["shd", "adjacency_precision"]
Frame = pd.DataFrame


def study() -> Frame:
    """Return runs with failed ones, undefined precisions, and fewer runs of one stratum; scores beside them."""
    rng, rows = np.random.default_rng(5), []
    for n, size in ((100, 8), (400, 5)):
        for replicate in range(size):
            graphs = [edges(rng) for _ in range(4)]
            for algorithm, graph in zip(("ges", "lingam", "pc"), graphs[1:], strict=True):
                rows.append((algorithm, n, replicate, graphs[0], graph))
    runs = pd.DataFrame(rows, columns=["algorithm", "n", "replicate", "truth", "estimate"])
    runs["key"], runs["seconds"] = np.arange(len(runs)), rng.uniform(1, 60, len(runs))
    runs.loc[[3, 10, 11, 30], "estimate"] = None
    runs.loc[[10, 20], "seconds"] = None
    runs.loc[[6, 25], "estimate"] = "A; B; C; D; E"
    return runs.ceval.evaluate(METRICS)


def edges(rng: np.random.Generator) -> str:
    drawn = [f"{a} -> {b}" for a, b in itertools.combinations("ABCDE", 2) if rng.random() < 0.5]
    return "; ".join([*drawn, *"ABCDE"])


RUNS = study()


def make(runs: Frame, metrics: Sequence[str] = METRICS, **settings: Any) -> xr.Dataset:
    usual = {"by": ["algorithm", "n"], "n_draws": 25, "rng": 7, "replicate": "replicate", "key": "key"}
    return ce.cube(runs.drop(columns=METRICS), metrics, values={"seconds": "minimize"}, **usual | settings)


@pytest.fixture(scope="module")
def cube() -> xr.Dataset:
    return make(RUNS)


def upper(cube: xr.Dataset) -> xr.Dataset:
    named = cube.assign_coords(label=("algorithm", ["G", "L", "P"])).swap_dims(algorithm="label")
    return named.drop_vars("algorithm").rename(label="algorithm")


def saved(cube: xr.Dataset, tmp_path: Any, how: str) -> xr.Dataset:
    if how == "netcdf":
        cube.to_netcdf(tmp_path / "cube.nc", engine="h5netcdf")
        with xr.open_dataset(tmp_path / "cube.nc", engine="h5netcdf") as read:
            return read.load()
    cube.to_zarr(tmp_path / "cube.zarr", consolidated=False)
    return xr.open_zarr(tmp_path / "cube.zarr", consolidated=False).load()


def relabelled(runs: Frame) -> Frame:
    return runs.assign(algorithm=runs["algorithm"].map({"ges": "G", "lingam": "L", "pc": "P"}))


def same(runs: Frame) -> Frame:
    return runs


def apart(cube: xr.Dataset, dim: str) -> list[xr.Dataset]:
    return [cube.isel({dim: [i]}) for i in range(cube.sizes[dim])]


CONCAT = {"data_vars": "all", "join": "outer", "coords": "minimal", "compat": "override"}

#: operations that keep the strata whole: on the cube, and on the runs
WHOLE: dict[str, tuple[Callable[[xr.Dataset], xr.Dataset], Callable[[Frame], Frame]]] = {
    "sel": (lambda c: c.sel(algorithm=["pc", "ges"]), lambda r: r[r["algorithm"] != "lingam"]),
    "isel": (lambda c: c.isel(n=[1]), lambda r: r[r["n"] == 400]),
    "drop_sel": (lambda c: c.drop_sel(algorithm="pc"), lambda r: r[r["algorithm"] != "pc"]),
    "drop_isel": (lambda c: c.drop_isel(n=0), lambda r: r[r["n"] == 400]),
    "reindex": (lambda c: c.reindex(n=[100, 200, 400]), same),
    "reindex, filled": (lambda c: c.reindex(n=[100, 200, 400], replicate=range(11), fill_value=0), same),
    "align": (lambda c: xr.align(c, c.isel(n=[0]).assign_coords(n=[50]), join="outer")[0], same),
    "where strata": (lambda c: c.where(c["n"] > 100), lambda r: r[r["n"] > 100]),
    "where, drop": (lambda c: c.where(c["algorithm"] != "ges", drop=True), lambda r: r[r["algorithm"] != "ges"]),
    "rename dims": (lambda c: c.rename(n="sample_size"), lambda r: r.rename(columns={"n": "sample_size"})),
    "stack": (lambda c: c.stack(stratum=("algorithm", "n")), same),
    "stack, isel": (lambda c: c.stack(stratum=("algorithm", "n")).isel(stratum=[0, 3]),
        lambda r: r[((r["algorithm"] == "ges") & (r["n"] == 100)) | ((r["algorithm"] == "lingam") & (r["n"] == 400))]),
    "unstack": (lambda c: c.stack(stratum=("n", "algorithm")).unstack("stratum"), same),
    "swap_dims": (upper, relabelled),
    "assign_coords": (lambda c: c.assign_coords(algorithm=["G", "L", "P"]), relabelled),
    "transpose": (lambda c: c.transpose(..., "n", "algorithm"), same),
    "sortby": (lambda c: c.sortby("n", ascending=False), same),
    "reversed draws": (lambda c: c.isel(draw=slice(None, None, -1)), same),
    "drop_vars": (lambda c: c.drop_vars("shd_p"), same), "drop a metric": (lambda c: c.drop_vars("shd"), same),
    "expand_dims": (lambda c: c.expand_dims(study=["a"]), lambda r: r.assign(study="a")),
    "groupby map": (lambda c: c.groupby("algorithm").map(lambda part: part), same),
    "squeeze": (lambda c: c.expand_dims("one").squeeze(), same),
    "statuses as floats": (lambda c: c.assign(status=c.status * 1.0), same),
    "concat": (lambda c: xr.concat(apart(c, "algorithm"), "algorithm", **CONCAT), same),
    "concat, minimal": (lambda c: xr.concat(apart(c, "n"), "n", **CONCAT | {"data_vars": "minimal"}), same),
    "concat of levels": (lambda c: xr.concat(
        [c.sel(n=x) for x in (100, 400)], "n", **CONCAT | {"coords": "different", "compat": "equals"}), same),
    "combine_by_coords": (lambda c: xr.combine_by_coords(apart(c, "n"), **CONCAT, combine_attrs="override"), same),
    "combine_nested": (lambda c: xr.combine_nested(
        [apart(x, "n") for x in apart(c, "algorithm")], ["algorithm", "n"], **CONCAT | {"data_vars": "minimal"},
        combine_attrs="override"), same),
    "merge": (lambda c: xr.merge(
        [c.drop_vars([x for x in c if str(x).startswith(name)]) for name in METRICS],
        join="outer", compat="no_conflicts", combine_attrs="override"), same),
}  # fmt: skip

#: operations that cut strata
CUTS: dict[str, tuple[Callable[[xr.Dataset], xr.Dataset], Callable[[Frame], Frame]]] = {
    "isel replicate": (lambda c: c.isel(replicate=slice(4)), lambda r: r[r["replicate"] < 4]),
    "sel replicate": (lambda c: c.sel(replicate=[1, 3, 6]), lambda r: r[r["replicate"].isin([1, 3, 6])]),
    "where": (lambda c: c.where(c["shd"] < 6), lambda r: r[r["shd"] < 6]),
    "where, status": (lambda c: c.where(c["status"] == 1, drop=True), lambda r: r[r["shd"].notna()]),
    "groupby map, cut": (lambda c: c.groupby("algorithm").map(lambda part: part.isel(replicate=slice(1, 4))),
        lambda r: r[r["replicate"].between(1, 3)]),
    "reindex replicate": (lambda c: c.reindex(replicate=[0, 2, 20]), lambda r: r[r["replicate"].isin([0, 2])]),
    "stack replicate": (lambda c: c.stack(run=("n", "replicate")).isel(run=[0, 2, 9]),
        lambda r: r[((r["n"] == 100) & r["replicate"].isin([0, 2])) | ((r["n"] == 400) & (r["replicate"] == 1))]),
    "concat replicate": (lambda c: xr.concat(
        [c.isel(replicate=slice(3)), c.isel(replicate=slice(3, None))], "replicate", **CONCAT), same),
}  # fmt: skip

#: verbs that look at controls, and verbs that do not
CONTROLLED: dict[str, Callable[[xr.Dataset], Frame]] = {
    "summary": lambda c: c.ceval.summary(METRICS[-1:], columns="full"),
    "summary of means": lambda c: c.ceval.summary(interval="mean_ci", columns="full"),
    "test_controls": lambda c: c.ceval.summary(columns="full"),
    "test_controls, worst": lambda c: c.ceval.summary(METRICS[-1], missing="worst", columns="full"),
    "compare, minus controls": lambda c: c.ceval.compare(
        "algorithm", on="excess", metrics=METRICS[-1], test="t", columns="full"
    ),
}
OBSERVED: dict[str, Callable[[xr.Dataset], Frame]] = {
    "compare": lambda c: c.ceval.compare("algorithm", test="t", columns="full"),
    "rank_test": lambda c: c.ceval.rank_test("algorithm"),
    "compare seconds": lambda c: c.ceval.compare("algorithm", metrics="seconds", test="t", columns="full"),
    "rank seconds": lambda c: c.ceval.rank_test("algorithm", "seconds"),
}
VERBS = CONTROLLED | OBSERVED


def sorted_table(table: Frame) -> Frame:
    """Return a table whose strata are in one order, whatever the order of dimensions and levels."""
    columns = sorted(table.columns)
    keys = [name for name in ("study", "algorithm", "n", "sample_size", "metric", "comparison") if name in table]
    return table[columns].sort_values(keys).reset_index(drop=True)


def dims_of(runs: Frame) -> list[str]:
    return [name for name in ("study", "algorithm", "n", "sample_size") if name in runs]


def signs(table: Frame) -> Frame:
    """Return comparisons a - b with a before b."""
    if "comparison" not in table or not len(table) or not table["comparison"].str.contains(" - ").all():
        return table
    names = table["comparison"].str.split(" - ", expand=True)
    turned = names[0] > names[1]
    flipped = table.assign(comparison=np.where(turned, names[1] + " - " + names[0], table["comparison"]))
    if "effect" in table:
        low, high = table["ci_low"], table["ci_high"]
        flipped["effect"] = np.where(turned, -table["effect"], table["effect"])
        flipped["statistic"] = np.where(turned, -table["statistic"], table["statistic"])
        flipped["ci_low"], flipped["ci_high"] = np.where(turned, -high, low), np.where(turned, -low, high)
    return flipped


def check(found: Frame, wanted: Frame) -> None:
    pd.testing.assert_frame_equal(
        sorted_table(signs(found)), sorted_table(signs(wanted)), rtol=1e-9, atol=1e-12, check_dtype=False
    )


def check_counts(table: Frame, runs: Frame) -> None:
    """Compare the counts of a table with those of the runs, one stratum and metric after the other."""
    dims = dims_of(runs)
    for row in table.to_dict("records"):
        here = [runs[dim] == row[dim] for dim in dims if dim in row] or [[True] * len(runs)]
        mine = runs[np.logical_and.reduce(here)]
        value, failed = mine[row["metric"]], mine["estimate"].isna()
        counts = {
            "n_runs": len(mine),
            "n_scored": value.notna().sum(),
            "n_failed": (failed & value.isna()).sum(),
            "n_undefined": (~failed & value.isna()).sum(),
            "n_draws": 25,
        }
        # tests count runs with a value and a control, and so undefined ones
        known = set(counts) & set(row) - ({"n_undefined"} if "n_pairs" in row else set())
        assert {name: row[name] for name in known} == {name: counts[name] for name in known}, row
    if "n_runs" in table:
        assert len(table) and (table["n_runs"] > 0).all()


@pytest.fixture(scope="module")
def wanted() -> Callable[[str, Frame], Frame]:
    """Return the table of a verb of a cube made of runs; runs that are the same are scored once."""
    made: dict[Any, xr.Dataset] = {}

    def table(verb: str, runs: Frame) -> Frame:
        key = tuple(runs["key"]), tuple(runs.columns), tuple(runs["algorithm"])
        if key not in made:
            made[key] = make(runs, by=dims_of(runs))
        return VERBS[verb](made[key])

    return table


def applicable(name: str, verb: str) -> bool:
    """Return whether a verb has something to do: metrics that are left, and levels that share truths."""
    if name == "drop a metric":
        return verb in ("summary", "test_controls, worst", "compare seconds")
    return name != "stack, isel" or verb in ("summary", "test_controls")


def some_verbs(name: str) -> list[str]:
    """Return two verbs for every operation, and two of the others in turn: all read the cube by one function."""
    others = [verb for verb in VERBS if verb not in ("summary", "test_controls")]
    first = list(WHOLE | CUTS).index(name)
    return ["summary", "test_controls", *others[first % 5 :: 5]]


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE | CUTS)
def test_every_verb_of_a_reshaped_cube(cube, wanted, name):
    change, rows = (WHOLE | CUTS)[name]
    changed, runs = change(cube), rows(RUNS)
    for verb in some_verbs(name) if name != "drop a metric" else VERBS:
        if not applicable(name, verb):
            continue
        found = VERBS[verb](changed)
        check(found, wanted(verb, runs))
        if verb in ("summary", "summary of means", "test_controls", "rank_test", "rank seconds"):
            check_counts(found, runs)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["netcdf", "zarr"])
def test_reshaped_cubes_are_saved(cube, wanted, how, tmp_path):
    cut = cube.where(cube["shd"] < 6).reindex(n=[100, 200, 400]).rename(shd="SHD")
    read = saved(cut, tmp_path, how)
    for verb in ("summary", "test_controls", "compare"):
        found = VERBS[verb](read)
        check(found.replace("SHD", "shd"), wanted(verb, RUNS[RUNS["shd"] < 6]))


@pytest.mark.slow
def test_a_renamed_metric_stays_a_metric(cube):
    renamed = cube.rename(shd="SHD")
    for verb in VERBS:
        check(VERBS[verb](renamed).replace("SHD", "shd"), VERBS[verb](cube))
    assert ce.summary(renamed, columns="full")["metric"].unique().tolist() == ["SHD", "adjacency_precision"]
    turned = cube.rename(shd="adjacency_precision", adjacency_precision="shd")
    words = {"shd": "adjacency_precision", "adjacency_precision": "shd"}
    check(ce.summary(turned, columns="full").replace({"metric": words}), ce.summary(cube, columns="full"))
    again = read_cube(read_cube(turned))
    xr.testing.assert_identical(again, read_cube(turned))
    # a variable of the user's own takes nothing from the metric that it was made of
    own = cube.assign(half=(cube["shd"] / 2).assign_attrs(cube["shd"].attrs))
    check(ce.summary(own, columns="full"), ce.summary(cube, columns="full"))
    with pytest.raises(ValueError, match="both come from the metric 'shd'"):
        ce.summary(own.drop_vars("shd").assign(third=own["half"]), columns="full")


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE | CUTS)
def test_lazy_cubes_are_reshaped_alike(cube, wanted, name):
    import dask

    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("computed too early")

    change, rows = (WHOLE | CUTS)[name]
    if name in ("groupby map", "groupby map, cut", "where, status", "concat of levels"):  # xarray computes these
        return
    lazy = cube.chunk({"algorithm": 1})
    if name.startswith("where"):  # xarray loads a condition for drop=True
        changed = change(lazy)
    else:
        with dask.config.set(scheduler=refuse):
            changed = change(lazy)
    for verb in ("summary", "test_controls", "compare"):
        if applicable(name, verb):
            check(VERBS[verb](changed), wanted(verb, rows(RUNS)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rename dims", "reindex", "where", "stack", "concat"])
def test_figures_of_a_reshaped_cube(cube, name):
    change, rows = (WHOLE | CUTS)[name]
    changed, runs = change(cube), rows(RUNS)
    second = dims_of(runs)[1]
    for metric in ("shd", "seconds"):
        grid = changed.ceval.plot.strata(metric, x="algorithm", col=second, values="raw")
        # the figure shows the mean of the runs that are left
        by_title = {ax.get_title(): ax for ax in grid.axes.flat}
        for level, part in runs.groupby(second):
            ax = by_title[f"{second} = {level}"]
            [line] = [x for x in ax.lines if x.get_gid() == "means"]
            np.testing.assert_allclose(
                np.sort(line.get_ydata()), np.sort(part.groupby("algorithm")[metric].mean().dropna()), rtol=1e-9
            )
        assert changed.ceval.plot.distributions(metric, hue="algorithm").axes.size == 1


def seeds(**other: Any) -> Callable[[xr.Dataset], xr.Dataset]:
    def together(cube: xr.Dataset) -> xr.Dataset:
        parts = [cube.sel(n=[100]), make(RUNS, **other).sel(n=[400])]
        return xr.concat(parts, "n", **CONCAT, combine_attrs="override")

    return together


def scored(cube: xr.Dataset) -> xr.Dataset:
    """Return replicates that every stratum has scored, so that means of their states are a state."""
    return cube.isel(replicate=cube["shd"].notnull().all(["algorithm", "n"]).to_numpy())


REFUSED: dict[str, tuple[Callable[[xr.Dataset], xr.Dataset], str]] = {
    "fewer draws": (lambda c: c.isel(draw=slice(10)), r"10 of its 25 draws.*n_draws=\.\.\."),
    "one draw": (lambda c: c.isel(draw=0), r"a single draw.*n_draws=\.\.\."),
    "renamed draws": (lambda c: c.rename(draw="d"), "has a dimension 'd' in place of 'draw'; keep the name"),
    "renamed replicates": (lambda c: c.rename(replicate="rep"), r"lost its dimension 'replicate'.*keep its name"),
    "merged metrics": (lambda c: c.drop_attrs(deep=False), "name metrics .* in one call"),
    "where of draws": (lambda c: c.where(c["draw"] < 5), "dimension 'draw'"),
    "doubled": (lambda c: c * 2, r"status.*metrics alone, as in cube\['shd'\] \* 2"),
    "filled": (lambda c: c.fillna(0), r"filled in \d+ runs that failed.*missing='worst'"),
    "mean": (lambda c: c.mean("replicate"), "lost its dimension 'replicate'"),
    "one replicate": (lambda c: c.isel(replicate=0), "select by a list"),
    "mean of strata": (lambda c: scored(c).mean("n"), "lost its stratum 'n'.*mean"),
    "largest of strata": (lambda c: c.max("n"), r"lost its stratum 'n'.*isel\(n=0\)"),
    "median of strata": (lambda c: c.isel(algorithm=[0, 1, 2]).median("algorithm"), r"lost its stratum 'algorithm'"),
    "coarse replicates": (lambda c: scored(c).coarsen(replicate=2).mean(), "holds fractions|could not convert"),
    "largest of replicates": (lambda c: scored(c).coarsen(replicate=2).max(), "holds fractions|could not convert"),
    "between strata": (lambda c: scored(c).interp(n=[200]), "holds fractions"),
    "states as flags": (lambda c: c.assign(status=c["status"].astype(bool)), "status holds the states.* type bool"),
    "no status": (lambda c: c.drop_vars("status"), "lacks the cube's variable 'status'"),
    "no attributes": (lambda c: c.drop_attrs(), "was not made by cube"),
    "between states": (lambda c: c.assign(status=c["status"] * 0.5), "status holds 0.5, which is not a state"),
    "no control mean": (lambda c: c.drop_vars("shd_control_mean"), "lacks its variable 'shd_control_mean'"),
    "twice the same": (lambda c: xr.concat([c, c], "replicate", **CONCAT), r"0 of 'replicate' occurs twice.*concat"),
    "levels twice": (lambda c: xr.concat([c, c.sel(n=[100])], "n", **CONCAT), r"100 of 'n' occurs twice"),
    "two nulls": (seeds(null="permutation"), "differ in the null model of the draws, 'edges' and 'permutation'"),
    "two numbers of draws": (seeds(n_draws=10), "differ in the number of draws, 25 and 10"),
    "with and without controls": (seeds(n_draws=None), "not present in all datasets"),
    "numbers as text": (lambda c: c.assign(shd=c["shd"].astype(str)), "shd holds numbers, found the type"),
    "objects": (lambda c: c.assign(shd_control_mean=c["shd_control_mean"].astype(object)), "found the type object"),
    "metrics that are no list": (lambda c: c.assign_attrs(metrics="shd"),
        "'metrics' of a cube is a JSON list of names"),
    "strata that are no list": (lambda c: c.assign_attrs(strata='{"n": 1}'), "'strata' of a cube is a JSON list"),
    "no draws by the attribute": (lambda c: c.assign_attrs(n_draws=0), "'n_draws' is 0, but the cube has controls"),
    "draws that are no number": (lambda c: c.assign_attrs(n_draws="many"), "'n_draws' must be .* found 'many'"),
    "no attributes of a metric": (lambda c: c.assign(shd=c["shd"].drop_attrs()), "shd has lost its attributes"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_is_refused(cube, name):
    change, message = REFUSED[name]
    lazy = cube.chunk({"algorithm": 1})
    # xarray joins no lazy coordinates of words with others
    verbs = [("summary of means", cube), *([("test_controls", lazy)] if not name.startswith("two ") else [])]
    for verb, cube in verbs:
        with pytest.raises(ValueError, match=message):
            CONTROLLED[verb](change(cube))


@pytest.mark.parametrize("name", ["filled", "between states", "twice the same", "mean of strata"])
@pytest.mark.parametrize("verb", ["compare", "rank_test"])
def test_verbs_without_controls_refuse_them_too(cube, name, verb):
    change, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        OBSERVED[verb](change(cube))


def test_one_draw_of_two_is_no_cube_of_one_draw(make_cube):
    values, draws = np.arange(6.0).reshape(1, 6), np.arange(12.0).reshape(1, 6, 2)
    for n_draws in (1, 2):
        made = make_cube({"algorithm": ["x"]}, {"m": (values, "minimize", draws[..., :n_draws])})
        if n_draws == 1:
            assert ce.summary(made.isel(draw=0), columns="full").equals(ce.summary(made, columns="full"))
        else:
            with pytest.raises(ValueError, match="a single draw of the cube was selected"):
                ce.summary(made.isel(draw=0))


@pytest.mark.slow
def test_verbs_without_controls_take_cut_draws(cube):
    cut = cube.isel(draw=slice(3))
    for verb in OBSERVED.values():
        check(verb(cut), verb(cube))


ONE_STRATUM: dict[str, tuple[Callable[[xr.Dataset], xr.Dataset], Callable[[Frame], Frame], list[str]]] = {
    "sel": (lambda c: c.sel(algorithm="pc", drop=True), lambda r: r[r["algorithm"] == "pc"], ["n"]),
    "isel": (lambda c: c.isel(n=1, drop=True), lambda r: r[r["n"] == 400], ["algorithm"]),
    "squeeze": (lambda c: c.sel(n=[100]).squeeze(drop=True), lambda r: r[r["n"] == 100], ["algorithm"]),
    "all strata": (lambda c: c.sel(n=100, algorithm="pc", drop=True),
        lambda r: r[(r["n"] == 100) & (r["algorithm"] == "pc")], []),
    "a renamed stratum": (lambda c: c.sel(n=100, drop=True).rename(algorithm="study"),
        lambda r: r[r["n"] == 100].rename(columns={"algorithm": "study"}), ["study"]),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_STRATUM)
def test_a_stratum_that_was_selected_without_its_label_is_one(cube, tmp_path, name):
    change, rows, by = ONE_STRATUM[name]
    changed, made = change(cube), make(rows(RUNS), by=by)
    for one in (changed, changed.chunk(), saved(changed, tmp_path, "netcdf")):
        for verb in ("summary", "summary of means", "test_controls"):
            check(CONTROLLED[verb](one), CONTROLLED[verb](made))
    if "algorithm" in by:
        check(OBSERVED["compare"](changed), OBSERVED["compare"](made))
    assert "cannot be read" not in repr(changed.ceval)


def test_a_null_model_that_was_selected_without_its_label_is_refused():
    several = make(RUNS, METRICS[:1], null=["edges", "empty"], n_draws=10)
    with pytest.raises(
        ValueError, match=r"null models edges, empty was selected without its label.*sel\(null='edges'\)"
    ):
        several.sel(null="edges", drop=True).ceval.summary(columns="full")
    check(several.isel(null=[0]).ceval.summary().drop(columns="null"), several.sel(null="edges").ceval.summary())


def test_strata_of_other_seeds_are_put_together_by_xarray(cube):
    whole = seeds(rng=8)(cube)
    parts = [cube.sel(n=[100]), make(RUNS, rng=8).sel(n=[400])]
    check(whole.ceval.summary(columns="full"), ce.concat(parts, "n").ceval.summary(columns="full"))
    for part in parts:
        check(whole.sel(n=part["n"]).ceval.summary(columns="full"), part.ceval.summary(columns="full"))


@pytest.mark.slow
def test_strata_that_were_selected_without_their_labels_are_put_together_by_new_ones(cube):
    parts = [cube.sel(n=n, drop=True) for n in (100, 400)]
    found = ce.concat(parts, pd.Index([100, 400], name="n"))
    check(found.ceval.summary(columns="full"), cube.ceval.summary(columns="full"))


@pytest.mark.slow
@pytest.mark.parametrize("dropped", ["variable", "dimension"])
@pytest.mark.parametrize("verb", ["summary", "summary of means", "test_controls", "test_controls, worst"])
def test_a_cube_without_its_draws_names_a_smaller_one(cube, verb, dropped):
    without = (
        cube.drop_vars([f"{name}_control" for name in METRICS]) if dropped == "variable" else cube.drop_dims("draw")
    )
    with pytest.raises(ValueError, match=r"has lost 'adj\w+_control'|has lost 'shd_control'") as refusal:
        CONTROLLED[verb](without)
    assert "cube(..., n_draws=199)" in str(refusal.value)
    # verbs that need no draws have those of the whole cube
    for other in ("compare", "rank_test"):
        check(OBSERVED[other](without), OBSERVED[other](cube))
    excess = "compare, minus controls"
    check(CONTROLLED[excess](without), CONTROLLED[excess](cube))


@pytest.mark.slow
def test_one_draw_is_a_dimension(cube):
    one = make(RUNS, n_draws=1)
    check(one.squeeze("draw").ceval.summary(columns="full"), one.ceval.summary(columns="full"))


@pytest.mark.slow
def test_filled_cells_without_a_run_stay_without_one():
    """Nothing failed and every metric is defined, so that `fillna` fills cells without a run only."""
    runs = ce.datasets.runs().query("n_nodes == 10 and (n == 100 or replicate < 5)")
    cube = ce.cube(runs, ["shd"], by=["n"], rng=7)
    assert cube["shd"].isnull().any()
    check(cube.fillna(0).ceval.summary(columns="full"), cube.ceval.summary(columns="full"))
    pd.testing.assert_frame_equal(*(x.ceval.summary("shd", columns="full") for x in (cube.fillna(0), cube)))


def test_reshaped_cubes_are_described(cube):
    assert describe_cube(cube.reindex(n=[100, 200, 400])).startswith(
        "a cube of shd, adjacency_precision by algorithm (3), n (3), 39 runs, 25 controls each (edges)"
    )
    assert "SHD, adjacency_precision by algorithm (3), size (2)" in describe_cube(cube.rename(n="size", shd="SHD"))
    assert "cannot be read: the cube has lost its dimension" in repr(cube.isel(replicate=0).ceval)
    assert describe_cube(xr.Dataset({"x": 1})) == "a dataset that was not made by cube()"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.filterwarnings("ignore:found an estimate without a truth:UserWarning")
def test_runs_are_scored_failed_or_undefined(seed, lazy):
    """Whatever is failed, undefined or blank, the three counts add up to the runs."""
    rng = np.random.default_rng(seed)
    runs = RUNS.assign(
        truth=RUNS["truth"].mask(rng.random(len(RUNS)) < 0.1),
        estimate=RUNS["estimate"].mask(rng.random(len(RUNS)) < 0.2),
    )
    runs["seconds"] = runs["seconds"].mask(rng.random(len(runs)) < 0.3)
    cube = make(runs, n_draws=10 if seed % 2 else None)
    cube = cube.where(xr.DataArray(rng.random(cube["status"].shape) < 0.8, dims=cube["status"].dims))
    table = ce.summary(cube.chunk({"n": 1}) if lazy else cube, [*METRICS, "seconds"], columns="full")
    assert (table["n_scored"] + table["n_failed"] + table["n_undefined"] == table["n_runs"]).all()
    assert table.groupby("metric")["n_runs"].sum().unique().tolist() == [int((cube["status"] > 0).sum())]
    assert table["n_failed"].any() and table["n_undefined"].any()


def test_a_dimension_may_be_renamed_to_a_result_column(cube):
    renamed = cube.rename(algorithm="mean").ceval.summary(columns="full")
    usual = cube.ceval.summary(columns="full").rename(columns={"algorithm": "mean_stratum"})
    pd.testing.assert_frame_equal(renamed, usual)


@pytest.mark.slow
def test_draws_that_repeat_are_refused_in_any_number(cube):
    n = cube.sizes["draw"]
    assert cube["draw"].to_numpy().tolist() == list(range(n))
    again = cube.isel(draw=[*range(n - 1), 0])
    for verb in (ce.summary, partial(ce.summary, columns="full")):
        with pytest.raises(ValueError, match=r"draw 0 of the cube occurs twice.*make the cube by cube"):
            verb(again)
    with pytest.raises(ValueError, match=f"has 3 of its {n} draws"):
        ce.summary(cube.isel(draw=[0, 0, 1]), columns="full")
    # in another order they are the same draws, and cubes of before had no labels
    three = ce.concat([cube.sel(n=[400]), cube.sel(n=[100]).isel(draw=slice(None, None, -1))], "n")
    for other in (cube.isel(draw=slice(None, None, -1)), cube.drop_vars("draw"), three.sortby("n")):
        pd.testing.assert_frame_equal(*(ce.summary(x, columns="full") for x in (other, cube)))


@pytest.mark.parametrize("n", [100, 400])
def test_a_part_of_cubes_that_xarray_joined_has_the_null_model_of_its_runs(n):
    runs = ce.datasets.runs().query("density == 0.2 and replicate < 4")
    how = {"by": ["algorithm", "n"], "n_draws": 19, "rng": 1, "control_kind": "kind"}
    nulls = {100: "edges", 400: "permutation"}
    parts = [runs[runs["n"] == size].ceval.cube(["shd"], null=null, **how) for size, null in nulls.items()]
    part = xr.concat(parts, "n").sel(n=[n])
    if n == 100:
        assert ce.summary(part, columns="full")["null"].tolist() == ["edges"] * 3
    else:
        with pytest.raises(ValueError, match="have the null model 'permutation', but its attributes name 'edges'"):
            ce.summary(part)
