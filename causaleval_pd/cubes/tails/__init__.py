"""P-values of strata that do not rest on draw r of all runs together, r = 1 .. R.

`exact_strata` convolves exact laws of runs, `combined_strata` counts combinations of the clusters' draws, and
`split_strata` splits levels of the statistic. `cubes.p_values` reads what they leave in a cube.
"""
