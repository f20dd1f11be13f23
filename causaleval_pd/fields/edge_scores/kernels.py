"""Compiled loops over edge scores: candidates, their ranking, random rearrangements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...execution.compilation import kernel, kernel_part
from ...graphs.kernels.draws import STEP, mix, shuffle
from .cells import ALONE, ALONG_ORDER, DIAGONAL, RELABELLED, UNORDERED

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]
Payload = NDArray[Any]
Room = tuple[Ints, Words, Words]
#: marks of truths, scores, and the positions of each pair's own
Cells = tuple[Bools, Floats, Ints, Ints]

#: columns of what `rank` finds
N_RANKED = 7
AUC, AP, PRECISION, EARLY, N_SELECTED, F1, HAMMING = range(N_RANKED)


@kernel
def collect(
    cells: Cells, codes: NDArray[np.int8], by_size: Bools, nodes: Any, options: tuple[int, bool, float], out: Any
) -> None:
    """List the candidates of each pair: `keys`, `labels` and `slots`; `counts` are N, K and true ones left out."""
    (marks, values, truth, estimate), (member, source), (keys, labels, counts, slots) = cells, nodes, out
    undirected, mean, fill = options
    d = marks.shape[1]
    for row in range(truth.size):
        t, e, code = truth[row], estimate[row], codes[row]
        n, k, lost = 0, 0, 0
        for i in range(d):
            for j in range(d):
                if (i == j and code != DIAGONAL) or (code == UNORDERED and i > j):
                    continue
                mark, back = marks[t, i, j], marks[t, j, i]
                label = mark or back if code == UNORDERED else mark and not (back and undirected != 0)
                x = values[e, i, j]
                if by_size[row]:
                    x = abs(x)
                if code == UNORDERED:
                    y = values[e, j, i]
                    if by_size[row]:
                        y = abs(y)
                    if np.isnan(x):
                        x = y
                    elif not np.isnan(y):
                        x = (x + y) / 2 if mean else max(x, y)
                if np.isnan(x):
                    x = fill
                ignored = code != UNORDERED and undirected == 2 and mark and back
                if ignored or np.isnan(x) or not (source[t, i] and member[t, i] and member[t, j]):
                    lost += label
                    continue
                keys[row, n] = x
                labels[row, n] = label
                slots[row, i, j] = True
                n += 1
                k += label
        counts[0, row], counts[1, row], counts[2, row] = n, k, lost


@kernel_part
def _sift(keys: Floats, labels: Payload, start: int, end: int) -> None:
    """Let the element at `start` sink in a heap with the smallest key on top."""
    root = start
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and keys[child + 1] < keys[child]:
            child += 1
        if keys[root] <= keys[child]:
            return
        keys[root], keys[child] = keys[child], keys[root]
        labels[root], labels[child] = labels[child], labels[root]
        root = child


@kernel_part
def sort_down(keys: Floats, labels: Payload, n: int) -> None:
    """Sort the first n keys from large to small, with their labels: few by insertion, more by a heap."""
    if n <= 24:
        for i in range(1, n):
            x, y = keys[i], labels[i]
            j = i
            while j > 0 and keys[j - 1] < x:
                keys[j], labels[j] = keys[j - 1], labels[j - 1]
                j -= 1
            keys[j], labels[j] = x, y
        return
    for start in range(n // 2 - 1, -1, -1):
        _sift(keys, labels, start, n)
    for end in range(n - 1, 0, -1):
        keys[0], keys[end] = keys[end], keys[0]
        labels[0], labels[end] = labels[end], labels[0]
        _sift(keys, labels, 0, end)


@kernel
def rank(
    keys: Floats, labels: Bools, size: Ints, n_true: Ints, cut: Ints, room: Floats, label_room: Bools, found: Floats
) -> None:
    """Rank the candidates of each pair, ties as one group, with `cut` (n,) as k; `found` is in the constants' order."""
    for row in range(size.size):
        n, k = size[row], n_true[row]
        found[row, :] = np.nan
        if n == 0:
            continue
        for i in range(n):
            room[i], label_room[i] = keys[row, i], labels[row, i]
        sort_down(room, label_room, n)
        least = np.inf  # the smallest non-zero score, of those that are scored
        for i in range(n):
            if room[i] != 0 and room[i] > -np.inf and abs(room[i]) < least:
                least = abs(room[i])
        false = n - k
        wins, ap = 0.0, 0.0
        best_f1, best_hamming = 0.0, np.float64(k)
        seen, right = 0, 0
        at_cut, early, selected = np.nan, np.nan, 0
        threshold = least if least < np.inf else 0.0
        if k > 0 and k <= n and room[k - 1] > threshold:
            threshold = room[k - 1]
        i = 0
        while i < n:
            j, a = i, 0
            while j < n and room[j] == room[i]:
                a += label_room[j]
                j += 1
            t, b = j - i, j - i - a
            before = seen - right  # false ones above
            wins += a * (false - before - b) + 0.5 * a * b
            if seen < cut[row] <= j:
                at_cut = (right + a * (cut[row] - seen) / t) / cut[row]
            seen, right = j, right + a
            precision = right / seen
            if k > 0:
                ap += a * precision
            best_f1 = max(best_f1, 2 * right / (seen + k))
            best_hamming = min(best_hamming, np.float64(seen + k - 2 * right))
            if room[i] >= threshold:
                selected = seen
                early = right / seen
            i = j
        found[row, N_SELECTED] = selected
        found[row, HAMMING] = best_hamming
        found[row, PRECISION] = at_cut
        if k > 0:
            found[row, AP] = ap / k
            found[row, EARLY] = (early if selected else 0.0) * n / k
            found[row, F1] = best_f1
        if k > 0 and false > 0:
            found[row, AUC] = wins / (np.float64(k) * false)


@kernel
def pattern_sums(above: Floats, tied: Floats, sums: Floats) -> None:
    """Sum [e' ranks no lower than e] / n(e), n(e) the candidates that rank no lower than e, by pattern of (e, e').

    Patterns: the same, reversed, same first node, same second, first of e is second of e', second of e is first.
    """
    d = above.shape[1]
    for row in range(len(above)):
        sums[row, :] = 0.0
        for i in range(d):
            for j in range(d):
                if i == j:
                    continue
                limit = above[row, i, j]
                seen = limit + tied[row, i, j]
                weight = 1.0 / seen
                sums[row, 0] += weight
                sums[row, 1] += weight * (above[row, j, i] <= limit)
                for m in range(d):
                    if m in (i, j):
                        continue
                    sums[row, 2] += weight * (above[row, i, m] <= limit)
                    sums[row, 3] += weight * (above[row, m, j] <= limit)
                    sums[row, 4] += weight * (above[row, m, i] <= limit)
                    sums[row, 5] += weight * (above[row, j, m] <= limit)


@kernel
def least_shd(cells: Cells, by_size: Bools, room: Floats, places: Ints, found: Floats) -> None:
    """Find the smallest number of pairs whose edge differs, over the graphs of all thresholds."""
    marks, values, truth, estimate = cells
    d = marks.shape[1]
    for row in range(truth.size):
        graph, scores = marks[truth[row]], values[estimate[row]]
        n, cost = 0, 0
        for i in range(d):
            for j in range(d):
                cost += i < j and (graph[i, j] or graph[j, i])
                x = abs(scores[i, j]) if by_size[row] else scores[i, j]
                if i != j and not np.isnan(x):
                    room[n], places[n] = x, i * d + j
                    n += 1
        sort_down(room, places, n)
        best, i = cost, 0
        while i < n:
            j = i
            while j < n and room[j] == room[i]:
                a, b = places[j] // d, places[j] % d
                # the opposite arc is there where it ranks above, or before in the same group
                y = abs(scores[b, a]) if by_size[row] else scores[b, a]
                there = y > room[j]
                if y == room[j]:
                    for m in range(i, j):
                        there = there or places[m] == b * d + a
                was = graph[a, b] or there != graph[b, a]
                cost += (not (graph[a, b] and there == graph[b, a])) - was
                j += 1
            best = min(best, cost)
            i = j
        found[row] = best


@kernel
def shuffle_scores(
    planes: Floats, estimate: Ints, slots: Bools, how: Ints, keys: Words, draws: Any, room: Room, out: Floats
) -> None:
    """Shuffle the scores of rows over their slots as `how` states, in draws start .. start + count - 1 of each row."""
    d = planes.shape[2]
    start, count = draws
    sources, places, order = room
    for row in range(keys.size):
        if how[row] == RELABELLED:
            continue
        base = mix(keys[row] + STEP)
        scores = planes[estimate[row]]
        n = 0
        for i in range(d):
            for j in range(d):
                if slots[row, i, j]:
                    sources[n] = i * d + j
                    n += 1
        for column in range(count):
            chosen = places[:n]
            state = shuffle(mix(base + np.uint64(start + column + 1) * STEP), chosen)
            if how[row] == ALONG_ORDER:
                shuffle(state, order)
            drawn = out[row * count + column]
            for plane in range(planes.shape[1]):
                for i in range(d):
                    for j in range(d):
                        drawn[plane, i, j] = scores[plane, i, j]
                for m in range(n):
                    i, j = sources[m] // d, sources[m] % d
                    a, b = sources[chosen[m]] // d, sources[chosen[m]] % d
                    x, y = scores[plane, i, j], scores[plane, j, i]
                    if how[row] == ALONG_ORDER:
                        x, y = x + y, 0.0
                        if order[a] > order[b]:
                            x, y = y, x
                    drawn[plane, a, b] = x
                    if how[row] != ALONE:
                        drawn[plane, b, a] = y


@kernel
def relabel_scores(
    planes: Floats, estimate: Ints, how: Ints, keys: Words, draws: Any, order: Words, out: Floats
) -> None:
    """Move the scores of relabelled rows with their nodes: node i becomes place i of a shuffle, as in graphs."""
    start, count = draws
    for row in range(keys.size):
        if how[row] == RELABELLED:
            base = mix(keys[row] + STEP)
            scores = planes[estimate[row]]
            for column in range(count):
                shuffle(mix(base + np.uint64(start + column + 1) * STEP), order)
                drawn = out[row * count + column]
                for plane in range(planes.shape[1]):
                    for i in range(order.size):
                        for j in range(order.size):
                            drawn[plane, order[i], order[j]] = scores[plane, i, j]


@kernel_part
def _true_of_group(t: int, rest: int, left: int, chances: Floats) -> tuple[int, int]:
    """Fill in the chances of `low` to `high` true ones in a group of t, where `rest` of `left` are; return both."""
    low, high = max(0, rest - (left - t)), min(t, rest)
    if t == 1:
        chances[0], chances[1] = (left - rest) / left, rest / left
    elif low <= high:
        mode = min(max((t + 1) * (rest + 1) // (left + 2), low), high)
        chances[mode] = 1.0
        for a in range(mode, high):
            chances[a + 1] = chances[a] * ((t - a) * (rest - a) / ((a + 1.0) * (left - t - rest + a + 1.0)))
        for a in range(mode, low, -1):
            chances[a - 1] = chances[a] * (a * (left - t - rest + a) / ((t - a + 1.0) * (rest - a + 1.0)))
        total = 0.0
        for a in range(low, high + 1):
            total += chances[a]
        for a in range(low, high + 1):
            chances[a] /= total
    return low, high


@kernel
def rank_sum_law(sizes: Ints, n: int, k: int, chances: Floats, state: Floats, moved: Floats) -> None:
    """Find the law of 2 U, twice the Mann-Whitney statistic: (k + 1, 2 k (n - k) + 1) in `state`, its last row."""
    state[:, :] = 0.0
    state[0, 0] = 1.0
    left, most = n, 0
    for t in sizes:
        reach = 0
        moved[:, :] = 0.0
        for c in range(k + 1):
            low, high = _true_of_group(t, k - c, left, chances)
            for a in range(low, high + 1):
                chance = chances[a]
                if chance == 0.0:
                    continue
                step = 2 * a * (left - t - (k - c - a)) + a * (t - a)
                # states further up have no weight
                end = min(most + 1, state.shape[1] - step)
                for u in range(end):
                    moved[c + a, u + step] += chance * state[c, u]
                reach = max(reach, end - 1 + step)
        most = reach
        for c in range(k + 1):
            for u in range(most + 1):
                state[c, u] = moved[c, u]
        left -= t
