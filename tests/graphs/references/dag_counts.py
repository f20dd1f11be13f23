"""Numbers of labelled DAGs in whole numbers."""

from __future__ import annotations

from math import comb


def numbers_of_edges(d: int) -> range:
    """Return the possible numbers of edges over d nodes."""
    return range(d * (d - 1) // 2 + 1)


def exact_numbers(n: int) -> dict[tuple[int, int], list[int]]:
    """Return numbers of DAGs by nodes, roots and arcs: coefficients of Robinson's polynomials."""
    most = n * (n - 1) // 2
    found = {(0, 0): [1]}
    for k in range(1, n + 1):
        for s in range(1, k + 1):
            total = [0] * (most + 1)
            for u in range(1, k - s + 1) if s < k else [0]:
                one = [comb(s, j) if j else 0 for j in range(s + 1)]
                product = found[k - s, u]
                for factor in [one] * u + [[1, 1]] * (s * (k - s - u)):
                    product = [
                        sum(factor[j] * product[m - j] for j in range(len(factor)) if 0 <= m - j < len(product))
                        for m in range(most + 1)
                    ]
                total = [a + b for a, b in zip(total, product + [0] * most, strict=False)]
            found[k, s] = [comb(k, s) * x for x in total]
    return found
