import causaleval_pd as ce


@ce.figure(
    "mean of a metric by stratum",
    of="cube",
    concludes="which strata have the best mean",
)
def means(cube, metric):
    """Draw the mean of a metric, one bar per stratum of the cube's first dimension."""
    from matplotlib import pyplot as plt

    table = cube.ceval.summary(metric)
    axes = plt.figure().gca()
    axes.barh(table.iloc[:, 0].astype(str), table["mean"])
    axes.set_xlabel(cube[metric].attrs["long_name"])
    axes.set_title("Bars are means of the runs: the shortest is the best.")
    return axes


cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm"], n_draws=None)
cube.ceval.plot.means("shd")
