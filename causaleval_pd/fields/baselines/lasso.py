"""The lasso along its whole path, and the point of the path with the least BIC.

References
----------
Efron, Hastie, Johnstone, Tibshirani (2004), Least angle regression, doi:10.1214/009053604000000067.
Zou, Hastie, Tibshirani (2007), On the degrees of freedom of the lasso, doi:10.1214/009053607000000127.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: moves along the path that are shorter than this share of the rest are rounding
_ROUNDING = 1e-12


def lasso_path(gram: Floats, product: Floats) -> Floats:
    """Return the coefficients of the lasso at each corner of its path, from none to least squares."""
    p = len(product)
    coefficients, left = np.zeros(p), product.copy()
    path, active, dropped = [coefficients.copy()], np.zeros(p, bool), False
    for _ in range(64 * (p + 1)):
        largest = np.abs(left[active]).max() if active.any() else np.abs(left).max(initial=0.0)
        if largest <= _ROUNDING * np.abs(product).max(initial=0.0):
            break
        if not dropped and not active.all():
            active[np.argmax(np.where(active, -1.0, np.abs(left)))] = True
            largest = np.abs(left[active]).max()
        chosen = np.flatnonzero(active)
        step = np.linalg.solve(gram[np.ix_(chosen, chosen)], np.sign(left[chosen]))
        slopes = gram[:, chosen] @ step
        length, leaves = largest, -1
        # until another predictor has as large an inner product with the residuals
        for j in np.flatnonzero(~active).tolist():
            for side in (1.0, -1.0):
                pace = 1.0 - side * slopes[j]
                gap = (largest - side * left[j]) / pace if pace > _ROUNDING else np.inf
                length = gap if _ROUNDING * largest < gap < length else length
        # or a coefficient is zero again
        for place, j in enumerate(chosen.tolist()):
            zero = -coefficients[j] / step[place] if step[place] else np.inf
            if _ROUNDING * largest < zero < length:
                length, leaves = zero, j
        coefficients[chosen] += length * step
        left = left - length * slopes
        dropped = leaves >= 0
        if dropped:
            coefficients[leaves], active[leaves] = 0.0, False
        path.append(coefficients.copy())
        if length == largest:
            break
    return np.array(path)


def lasso_by_bic(predictors: Floats, response: Floats) -> Floats:
    """Return the coefficients at the corner of the lasso's path with the least BIC.

    BIC = n log(2 pi s2) + RSS / s2 + log(n) df, with s2 the residual variance of least squares on all predictors and an
    intercept, RSS / (n - p - 1), and df the number of coefficients that are not zero.
    """
    n, p = predictors.shape
    if n <= p + 1:
        raise ValueError(f"{n} cases are too few for a regression on {p} variables: it needs more than {p + 1}")
    x, y = predictors - predictors.mean(axis=0), response - response.mean()
    path = lasso_path(x.T @ x, x.T @ y)
    rest = ((y[:, None] - x @ path.T) ** 2).sum(axis=0)
    least = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    variance = (least**2).sum() / (n - p - 1)
    if variance <= 0:
        return np.asarray(path[-1])
    bic = rest / variance + np.log(n) * (path != 0).sum(axis=1)
    return np.asarray(path[np.argmin(bic)])
