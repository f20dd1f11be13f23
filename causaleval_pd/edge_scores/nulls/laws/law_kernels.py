"""Compiled dynamic programs over tie groups: how many of the true candidates are in each, from the top down.

Of R candidates from a group of t on, k are true; a of the group are true with the hypergeometric probability
C(t, a) C(R - t, k - a) / C(R, k). Every program goes through the groups with the number c of true ones so far as
state, and all terms are positive, so that small tails keep their relative accuracy.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ....execution.compilation import kernel
from ...kernels import sort_down

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@kernel
def tie_profiles(keys: Floats, size: Ints, room: Floats, label_room: Bools, sizes: Ints, n_groups: Ints) -> None:
    """List the sizes of the groups of equal keys, largest key first."""
    for row in range(size.size):
        n = size[row]
        for i in range(n):
            room[i], label_room[i] = keys[row, i], False
        sort_down(room, label_room, n)
        groups, i = 0, 0
        while i < n:
            j = i
            while j < n and room[j] == room[i]:
                j += 1
            sizes[row, groups] = j - i
            groups += 1
            i = j
        n_groups[row] = groups


@kernel
def transitions(sizes: Ints, n: int, k: int, starts: Ints, weights: Floats) -> None:
    """Fill in the probabilities of a true ones in a group, after c so far: from `starts` of the group on, (c, a)."""
    left = n
    for g in range(sizes.size):
        t = sizes[g]
        width = min(t, k) + 1
        for c in range(k + 1):
            at = starts[g] + c * width
            rest = k - c
            low, high = max(0, rest - (left - t)), min(t, rest)
            for a in range(width):
                weights[at + a] = 0.0
            if low > high:
                continue
            if t == 1:
                if low == 0:
                    weights[at] = (left - rest) / left
                if high == 1:
                    weights[at + 1] = rest / left
                continue
            mode = min(max((t + 1) * (rest + 1) // (left + 2), low), high)
            weights[at + mode] = 1.0
            for a in range(mode, high):
                ratio = (t - a) * (rest - a) / ((a + 1.0) * (left - t - rest + a + 1.0))
                weights[at + a + 1] = weights[at + a] * ratio
            for a in range(mode, low, -1):
                ratio = a * (left - t - rest + a) / ((t - a + 1.0) * (rest - a + 1.0))
                weights[at + a - 1] = weights[at + a] * ratio
            total = 0.0
            for a in range(low, high + 1):
                total += weights[at + a]
            for a in range(low, high + 1):
                weights[at + a] /= total
        left -= t


@kernel
def rank_sum_law(sizes: Ints, n: int, k: int, starts: Ints, weights: Floats, state: Floats, moved: Floats) -> None:
    """Find the law of 2 U, twice the Mann-Whitney statistic: (k + 1, 2 k (n - k) + 1) in `state`, its last row."""
    state[:, :] = 0.0
    state[0, 0] = 1.0
    left, most = n, 0
    for g in range(sizes.size):
        t = sizes[g]
        width = min(t, k) + 1
        reach = 0
        moved[:, :] = 0.0
        for c in range(k + 1):
            for a in range(min(width, k - c + 1)):
                w = weights[starts[g] + c * width + a]
                if w == 0.0:
                    continue
                step = 2 * a * (left - t - (k - c - a)) + a * (t - a)
                # states further up have no weight
                end = min(most + 1, state.shape[1] - step)
                for u in range(end):
                    moved[c + a, u + step] += w * state[c, u]
                reach = max(reach, end - 1 + step)
        most = reach
        for c in range(k + 1):
            for u in range(most + 1):
                state[c, u] = moved[c, u]
        left -= t


@kernel
def power_sums(sizes: Ints, k: int, starts: Ints, weights: Floats, state: Floats, moved: Floats) -> None:
    """Find the means of 1, S, S^2 and S^3 of S = K times the average precision: (k + 1, 4), in the last row."""
    state[:, :] = 0.0
    state[0, 0] = 1.0
    seen = 0
    for g in range(sizes.size):
        seen += sizes[g]
        width = min(sizes[g], k) + 1
        moved[:, :] = 0.0
        for c in range(k + 1):
            for a in range(min(width, k - c + 1)):
                w = weights[starts[g] + c * width + a]
                if w == 0.0:
                    continue
                v = a * (c + a) / seen
                s0, s1, s2, s3 = state[c, 0], state[c, 1], state[c, 2], state[c, 3]
                moved[c + a, 0] += w * s0
                moved[c + a, 1] += w * (s1 + v * s0)
                moved[c + a, 2] += w * (s2 + 2 * v * s1 + v * v * s0)
                moved[c + a, 3] += w * (s3 + 3 * v * s2 + 3 * v * v * s1 + v * v * v * s0)
        for c in range(k + 1):
            for m in range(4):
                state[c, m] = moved[c, m]


@kernel
def grid_law(
    sizes: Ints, k: int, starts: Ints, weights: Floats, cells: int, up: bool, band: Ints, state: Floats, moved: Floats
) -> None:
    """Find the law of the average precision on a grid of `cells`, its summands rounded up or down, in the last row."""
    last = state.shape[1] - 1
    # (4, k + 1): first and last cell that a number of true ones can reach, before and after a group; no other is read
    low, high, new_low, new_high = band[0], band[1], band[2], band[3]
    low[:], high[:] = 0, -1
    state[0, 0], high[0] = 1.0, 0
    seen = 0
    for g in range(sizes.size):
        seen += sizes[g]
        width = min(sizes[g], k) + 1
        new_low[:], new_high[:] = last + 1, -1
        for adding in (False, True):
            for c in range(k + 1):
                if high[c] < low[c]:
                    continue
                for a in range(min(width, k - c + 1)):
                    w = weights[starts[g] + c * width + a]
                    if w == 0.0:
                        continue
                    v = a * (c + a) / seen / k * cells
                    step = math.ceil(v - 1e-9) if up else math.floor(v + 1e-9)
                    end = min(high[c] + step, last)
                    if adding:
                        for u in range(low[c], end - step + 1):
                            moved[c + a, u + step] += w * state[c, u]
                    else:
                        new_low[c + a] = min(new_low[c + a], low[c] + step)
                        new_high[c + a] = max(new_high[c + a], end)
            if not adding:
                for c in range(k + 1):
                    for u in range(new_low[c], new_high[c] + 1):
                        moved[c, u] = 0.0
        for c in range(k + 1):
            low[c], high[c] = new_low[c], new_high[c]
            for u in range(low[c], high[c] + 1):
                state[c, u] = moved[c, u]
    for u in range(last + 1):
        if u < low[k] or u > high[k]:
            state[k, u] = 0.0


@kernel
def crossings(
    sizes: Ints,
    n: int,
    k: int,
    starts: Ints,
    weights: Floats,
    gain: Floats,
    cost: Floats,
    level: Floats,
    from_start: bool,
    state: Floats,
    moved: Floats,
    found: Floats,
) -> None:
    """Find P(gain A - cost n >= level at some group's end), A true ones among the n first; a value a level.

    Gains are positive and costs not negative, so that the line is crossed only by a true one.
    """
    for m in range(level.size):
        limit = level[m] - 1e-9 * max(1.0, abs(level[m]))
        if from_start and limit <= 0:
            found[m] = 1.0
            continue
        state[:] = 0.0
        state[0] = 1.0
        crossed = 0.0
        seen, most = 0, 0
        for g in range(sizes.size):
            t = sizes[g]
            left = n - seen
            seen += t
            # as many true ones cross the line
            bound = math.ceil((limit + cost[m] * seen) / gain[m])
            if t == 1:
                for c in range(most, -1, -1):
                    x = state[c]
                    up = x * (k - c) / left
                    state[c] = x * (left - k + c) / left
                    if c + 1 >= bound:
                        crossed += up
                    elif c < k:
                        state[c + 1] += up
                most = min(most + 1, k)
                continue
            width = min(t, k) + 1
            for c in range(min(most + width, k + 1)):
                moved[c] = 0.0
            for c in range(most + 1):
                x = state[c]
                if x == 0.0:
                    continue
                for a in range(min(width, k - c + 1)):
                    w = weights[starts[g] + c * width + a]
                    if c + a >= bound:
                        crossed += x * w
                    else:
                        moved[c + a] += x * w
            most = min(most + width - 1, k)
            for c in range(most + 1):
                state[c] = moved[c]
        found[m] = min(crossed, 1.0)
