"""Figures of configurational models: hypergraphs, differences from the truth, and profiles of scores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple
from typing import Literal as OneOf

import numpy as np

from ...contract.checks import check_number, check_whole
from ...contract.figure import figure
from ...contract.metric import get_metric
from ...drawing import LETTER, colours, figure_of, inches, opacity, place_to_draw, tone
from ...drawing import caption as write_caption
from ...execution.random_streams import RNGLike
from ...statistics.arrays import quantile_interval
from .formula import Conjunction, Domains, FormulaTooLargeError, Literal, Model
from .nulls import guesses
from .pairs import FormulaPairs
from .quality import COMPONENTS, quality_table
from .reader import as_model
from .submodel import judge_claims
from .truth_table import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: disjuncts that a figure can show
MAX_CLAIMS = 100
#: sweeps over the layers that order them anew by their neighbours
_SWEEPS = 12
#: smallest vertical distances of factors, and of points at which causes join
_ROW, _JOIN = 1.0, 0.42
#: how far before its effect, in layers, a joint cause joins
_BEFORE = 0.45

Point = tuple[float, float]


class Claim(NamedTuple):
    """One disjunct of an atom, and the looks in which its arrow and the lines of its literals are drawn."""

    disjunct: Conjunction
    outcome: Literal
    look: str
    #: look of single literals, where it is another
    looks: Mapping[Literal, str] = {}


#: what takes a row of a layer: a factor (value -1), or a literal whose line passes by
Place = tuple[int, str, int]


class Layout(NamedTuple):
    """Positions of factors, of the lines that pass by others, and of joints."""

    #: position of each factor
    factors: dict[str, Point]
    #: points that the line of a literal passes on its way to a claim, by the claim's number and the literal
    ways: dict[tuple[int, Literal], list[Point]]
    #: where the causes of a claim join, by the claim's number; single causes pass there too, so that lines keep apart
    joints: dict[int, Point]


def layers_of(claims: Sequence[Claim]) -> dict[str, int]:
    """Return the layer of each factor: an effect is right of its causes, a root just left of its first effect."""
    causes: dict[str, set[str]] = {}
    for claim in claims:
        causes.setdefault(claim.outcome[0], set()).update(name for name, _ in claim.disjunct)
    layers: dict[str, int] = {}

    def layer(name: str, above: frozenset[str]) -> int:
        if name not in layers:
            rest = causes.get(name, set()) - above
            layers[name] = 1 + max((layer(cause, above | {name}) for cause in sorted(rest)), default=-1)
        return layers[name]

    for name in sorted(causes):
        layer(name, frozenset({name}))
    for name in sorted({name for names in causes.values() for name in names} - causes.keys()):
        layers[name] = max(0, min(layers[effect] for effect, names in causes.items() if name in names) - 1)
    return dict(sorted(layers.items()))


def lay_out(claims: Sequence[Claim]) -> Layout:
    """Place factors in layers and rows, and the joints of claims between them."""
    if len(claims) > MAX_CLAIMS:
        raise FormulaTooLargeError(f"{len(claims)} disjuncts are too many to draw; the limit is {MAX_CLAIMS}")
    layer = layers_of(claims)
    place_of = {name: (at, name, -1) for name, at in layer.items()}
    routes: dict[tuple[int, Literal], list[Place]] = {}
    links = set[tuple[Place, Place]]()
    for number, claim in enumerate(claims):
        effect = place_of[claim.outcome[0]]
        for literal in claim.disjunct:
            route = [(at, *literal) for at in range(layer[literal[0]] + 1, effect[0])]
            routes[number, literal] = route
            links |= set(pairwise([place_of[literal[0]], *route, effect]))
    rows = _order(set(place_of.values()), links)
    position = {
        place: (float(place[0]), _ROW * ((len(row) - 1) / 2 - i)) for row in rows for i, place in enumerate(row)
    }
    factors = {name: position[place] for name, place in place_of.items()}
    ways = {key: [position[place] for place in route] for key, route in routes.items()}
    return Layout(factors, ways, _joints(claims, factors, ways))


def _order(factors: set[Place], links: set[tuple[Place, Place]]) -> list[list[Place]]:
    """Order the places of every layer so that few links cross (repeated barycentres)."""
    near: dict[bool, dict[Place, list[Place]]] = {True: {}, False: {}}
    for left, right in links:
        near[True].setdefault(right, []).append(left)
        near[False].setdefault(left, []).append(right)
    places = sorted(factors.union(*links), key=lambda place: place[1:])
    rows = [[place for place in places if place[0] == at] for at in sorted({place[0] for place in places})]
    together = [
        (one, other) for one, other in combinations(links, 2) if (one[0][0], one[1][0]) == (other[0][0], other[1][0])
    ]

    def crossings() -> int:
        height = {place: i for row in rows for i, place in enumerate(row)}
        return sum((height[a] - height[c]) * (height[b] - height[d]) < 0 for (a, b), (c, d) in together)

    best, fewest = [list(row) for row in rows], crossings()
    for sweep in range(_SWEEPS):
        forwards = sweep % 2 == 0
        for row in rows if forwards else reversed(rows):
            height = {place: i - (len(r) - 1) / 2 for r in rows for i, place in enumerate(r)}
            centres = {place: [height[p] for p in near[forwards].get(place, [place])] for place in row}
            row.sort(key=lambda place, centres=centres: sum(centres[place]) / len(centres[place]))  # type: ignore[misc]
        if (n_crossings := crossings()) < fewest:
            best, fewest = [list(row) for row in rows], n_crossings
    return best


def _joints(
    claims: Sequence[Claim], factors: dict[str, Point], ways: dict[tuple[int, Literal], list[Point]]
) -> dict[int, Point]:
    """Place the joints of claims between causes and effect, apart from one another."""
    together = {claim.outcome[0] for claim in claims if len(claim.disjunct) > 1}
    wanted: dict[float, list[tuple[float, int]]] = {}
    for number, claim in enumerate(claims):
        if claim.outcome[0] in together:
            x, y = factors[claim.outcome[0]]
            near = [(ways[number, one] or [factors[one[0]]])[-1][1] for one in sorted(claim.disjunct)]
            wanted.setdefault(x - _BEFORE, []).append((0.5 * y + 0.5 * sum(near) / len(near), number))
    points: dict[int, Point] = {}
    for x, joints in wanted.items():
        joints.sort()
        heights: list[float] = []
        for height, _ in joints:
            heights.append(max(height, heights[-1] + _JOIN) if heights else height)
        shift = sum(h for h, _ in joints) / len(joints) - sum(heights) / len(heights)
        points |= {number: (x, height + shift) for (_, number), height in zip(joints, heights, strict=True)}
    return points


#: inches between layers at least, between the rows of few and of many factors, and of a figure's rows together
_LAYER, _HEIGHT, _LOW, _TALLEST = 1.9, 0.85, 0.55, 14.0
#: how far, in layers and rows, an arrow that points back goes round its factors
_ROUND = (0.3, 0.62)
_LEGEND = (
    "Lines that meet in a dot act together, arrows into one factor alternatively; a diamond marks absence, =2 a value."
)
#: scores whose labels would meet
_NEAR = 0.12
_MEASURES = ("correctness", "completeness")
_PARTS = ["overall", *COMPONENTS]
#: colours, by their number, or tones of ink; styles of lines; words
_LOOKS: dict[str, tuple[int | float, Any, str]] = {
    "plain": (0.85, "-", ""),
    "both": (0.85, "-", "in truth and estimate"),
    "part": (2, "-", "only in the estimate, part of a joint cause"),
    "indirect": (0, "-", "only in the estimate, true of the chain"),
    "bypass": (0, "--", "only in the estimate, true of the chain but not direct"),
    "literal": (1, "-.", "only in the estimate, a cause in a wrong combination"),
    "false": (3, "--", "only in the estimate, false"),
    "missing": (0.4, ":", "only in the truth"),
}


@figure(
    "hypergraph of a model",
    of="cells",
    field="formula",
    concludes="which factors cause which, together or alternatively",
)
def hypergraph(model: Model | str, *, ax: Axes | None = None, caption: bool = True) -> Axes:
    """Draw a model as a hypergraph, causes left of their effects.

    Parameters
    ----------
    model : Model or str
        The model.

    Returns
    -------
    Axes
        Conjuncts meet in a dot, disjuncts are arrows of their own, a diamond where a line leaves its factor (or enters
        its outcome) marks a negation, `=2` a value.

    Raises
    ------
    FormulaError
        If the text is not a model.

    References
    ----------
    .. [1] Baumgartner, M., Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
       Inference 12. doi:10.1515/jci-2023-0032

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> ax = ce.plot.hypergraph("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)")
    >>> sorted(text.get_text() for text in ax.texts if text.get_gid() == "factor")
    ['A', 'B', 'C', 'D', 'E', 'F', 'G']
    """
    model = as_model(model)
    claims = [Claim(one, atom.outcome, "plain") for atom in model.atoms for one in atom.disjuncts]
    new_figure = ax is None
    ax = _draw(claims, ax)
    _entitle(ax, new_figure, str(model))
    if caption:
        write_caption(ax, new_figure, _LEGEND)
    return ax


@figure(
    "hypergraph of truth and estimate",
    of="cells",
    field="formula",
    concludes="which causes are right, wrong and missing",
)
def model_difference(
    truth: Model | str,
    estimate: Model | str,
    *,
    domains: Domains | None = None,
    ax: Axes | None = None,
    caption: bool = True,
) -> Axes:
    """Draw truth and estimate into one hypergraph, and mark what is right, wrong and missing.

    Parameters
    ----------
    truth, estimate : Model or str
        The true and the estimated model, both acyclic.
    domains : mapping, optional
        Values of multi-value factors.

    Returns
    -------
    Axes
        Disjuncts in both, only in the truth, and only in the estimate. The last are parts of a joint cause of the
        truth, true of its chains of causes through outcomes that the estimate does not mention, true of these chains
        but not direct because the estimate mentions the outcomes between, or false; in a false conjunction the lines of
        literals that are causes by themselves have a look of their own.

    Raises
    ------
    ValueError
        If a model is cyclic, or mentions values that a factor does not have.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> ax = ce.plot.model_difference("(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)", "(A+B<->D)*(B*C<->G)")
    >>> for text in ax.get_legend().get_texts():
    ...     print(text.get_text())
    in truth and estimate
    only in the estimate, part of a joint cause
    only in the estimate, a cause in a wrong combination
    only in the estimate, false
    only in the truth
    """
    from matplotlib.lines import Line2D

    true, estimated = (as_model(model) for model in (truth, estimate))
    verdicts = judge_claims(true, estimated, Setting(domains))
    missing = {(one, atom.outcome) for atom in true.atoms for one in atom.disjuncts} - verdicts.keys()
    claims = []
    for disjunct, outcome in sorted(missing | verdicts.keys(), key=lambda claim: (claim[1], sorted(claim[0]))):
        standing, causes = verdicts.get((disjunct, outcome), ("missing", ()))
        looks = dict.fromkeys(causes, "literal") if standing == "false" else {}
        claims.append(Claim(disjunct, outcome, standing, looks))
    new_figure = ax is None
    ax = _draw(claims, ax)
    used = {look for claim in claims for look in (claim.look, *claim.looks.values())}
    handles = [
        Line2D([], [], color=_colour(look), linestyle=style, lw=1.6, label=words)
        for look, (_, style, words) in _LOOKS.items()
        if look in used
    ]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -0.01), frameon=False, fontsize="small")
    figure = figure_of(ax)
    if new_figure and figure is not None:
        figure.set_figheight(figure.get_figheight() + 0.2 * len(handles))
    _entitle(ax, new_figure, f"truth {true}", f"estimate {estimated}")
    if caption:
        write_caption(ax, new_figure, _LEGEND)
    return ax


def _entitle(ax: Axes, own: bool, *texts: str, pad: float | None = None) -> None:
    """Write models over a figure, broken before `*` and `+` where they are too long; the figure grows if it is new."""
    figure = figure_of(ax)
    width = figure.get_figwidth() if own and figure is not None else inches(ax)
    room = max(24, int((width - 0.3) / (1.25 * LETTER)))  # capitals are wide
    lines: list[str] = []
    for text in texts:
        line = ""
        for piece in re.split(r"(?=[*+])", text):
            if line and len(line) + len(piece) > room:
                lines.append(line)
                line = ""
            line += piece
        lines.append(line)
    if own and figure is not None:
        figure.set_figheight(figure.get_figheight() + 0.17 * (len(lines) - len(texts)))
    ax.set_title("\n".join(lines), size="medium", pad=pad)


def _colour(look: str) -> Any:
    colour = _LOOKS[look][0]
    return colours(5)[colour] if isinstance(colour, int) else tone(colour)


def _draw(claims: Sequence[Claim], ax: Axes | None) -> Axes:
    """Draw claims: lines first, factors over them."""
    layout = lay_out(claims)
    xs, ys = zip(*layout.factors.values(), *layout.joints.values(), *chain(*layout.ways.values()), strict=True)
    wide = {name: 0.085 + 0.05 * len(name) for name in layout.factors}
    layer = max(_LAYER, 1.0 + 2 * max(wide.values())) if ax is None else inches(ax) / (max(xs) + 0.8)
    half = {name: width / layer for name, width in wide.items()}
    place = layout.factors
    # an arrow leads to a factor that is not right of its cause, as in a cycle
    points_back = any(place[name][0] >= place[claim.outcome[0]][0] for claim in claims for name, _ in claim.disjunct)
    round_x, round_y = _ROUND if points_back else (0.0, 0.0)
    margin = max(0.3, *half.values()) + 0.1 + round_x
    tall = max(ys) - min(ys) + round_y
    row = max(_LOW, min(_HEIGHT, _TALLEST / max(tall, 1.0)))
    ax = place_to_draw(ax, max(4.2, layer * (max(xs) + 2 * margin)), max(2.2, row * tall + 1.6))
    ax.set(xlim=(-margin, max(xs) + margin), ylim=(min(ys) - 0.55 - round_y, max(ys) + 0.55))
    ax.set_axis_off()
    ports: dict[Literal, Point] = {}
    for name, (x, y) in layout.factors.items():
        # the lines of several literals leave above each other
        stack = sorted({one for claim in claims for one in claim.disjunct if one[0] == name}, reverse=True)
        for i, literal in enumerate(stack):
            ports[literal] = (x + half[name], y + 0.22 * ((len(stack) - 1) / 2 - i))
    arrivals = _arrivals(claims, layout, half)
    multi_value = any(value > 1 for claim in claims for _, value in (*claim.disjunct, claim.outcome))
    for number, claim in enumerate(claims):
        x, y = arrivals[number]
        if not multi_value:
            _mark(ax, (x - 0.01, y), claim.outcome[1], "right", multi_value)
        effect = (x - 0.045, y) if claim.outcome[1] == 0 and not multi_value else (x, y)
        joint, together = layout.joints.get(number), len(claim.disjunct) > 1
        ends = [effect] if joint is None else [joint] if together else [joint, effect]
        for literal in sorted(claim.disjunct):
            points = [ports[literal], *layout.ways[number, literal], *ends]
            _curve(ax, points, claim.looks.get(literal, claim.look), arrow=not together)
        if joint is not None and together:
            _curve(ax, [joint, effect], claim.look, arrow=True)
            ax.plot(*joint, "o", ms=5, color=_colour(claim.look), zorder=3, gid="joint")
    for literal, port in ports.items():
        _mark(ax, port, literal[1], "left", multi_value)
    if multi_value:
        # one label for all arrows that explain one value, over the highest
        for outcome in sorted({claim.outcome for claim in claims}):
            tips = [arrivals[number] for number, claim in enumerate(claims) if claim.outcome == outcome]
            _mark(ax, max(tips, key=lambda tip: tip[1]), outcome[1], "right", multi_value)
    for name, (x, y) in layout.factors.items():
        box = {"boxstyle": "round,pad=0.35", "facecolor": tone(0.0), "edgecolor": tone(0.85)}
        ax.text(x, y, name, ha="center", va="center", bbox=box, zorder=5, gid="factor")
    return ax


def _arrivals(claims: Sequence[Claim], layout: Layout, half: dict[str, float]) -> dict[int, Point]:
    """Return the point at which the arrow of each claim reaches its outcome, ordered by where the arrows come from."""
    arrivals: dict[int, Point] = {}
    for name, (x, y) in layout.factors.items():
        arrows = [number for number, claim in enumerate(claims) if claim.outcome[0] == name]

        def origin(number: int) -> float:
            first = min(claims[number].disjunct)
            ways = layout.ways[number, first] or [layout.factors[first[0]]]
            return layout.joints.get(number, ways[-1])[1]

        # arrows that explain one value stand together, with room for the label of the next value
        values = sorted({claims[number].outcome[1] for number in arrows})
        groups = [sorted((n for n in arrows if claims[n].outcome[1] == value), key=origin) for value in values]
        heights, at = dict[int, float](), 0.0
        for group in sorted(groups, key=lambda group: sum(map(origin, group)) / len(group)):
            for number in group:
                heights[number] = at
                at += min(0.16, 0.4 / len(arrows))
            at += 0.12
        centre = sum(heights.values()) / max(1, len(heights))
        arrivals |= {number: (x - half[name], y + height - centre) for number, height in heights.items()}
    return arrivals


def _curve(ax: Axes, points: Sequence[Point], look: str, *, arrow: bool) -> None:
    """Draw a line that leaves and enters every point horizontally."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    corners, codes = [points[0]], [Path.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        if x1 > x0:
            bend = 0.5 * (x1 - x0)
            corners += [(x0 + bend, y0), (x1 - bend, y1), (x1, y1)]
            codes += [Path.CURVE4] * 3
        else:
            out, low = _ROUND[0], min(y0, y1) - _ROUND[1]
            corners += [(x0 + out, y0), (x0 + out, low), (x0, low), (x1, low)]
            corners += [(x1 - out, low), (x1 - out, y1), (x1, y1)]
            codes += [Path.CURVE4] * 3 + [Path.LINETO] + [Path.CURVE4] * 3
    style = {"color": _colour(look), "linestyle": _LOOKS[look][1], "lw": 1.4, "zorder": 2, "gid": look}
    tip = "-|>,head_width=3,head_length=6" if arrow else "-"
    ax.add_patch(FancyArrowPatch(path=Path(corners, codes), arrowstyle=tip, **style))


def _mark(ax: Axes, at: Point, value: int, side: OneOf["left", "right"], multi_value: bool) -> None:
    """Mark a negation by a diamond; write every value where there are more than two."""
    if multi_value:
        offset = (3, 4) if side == "left" else (-10, 5)
        ax.annotate(f"={value}", at, offset, textcoords="offset points", ha=side, size="x-small", gid="value")
    elif value == 0:
        ax.plot(*at, "D", ms=6, mfc=tone(0.0), mec=tone(0.85), zorder=6, gid="negation")


@figure(
    "correctness and completeness by component, beside guesses",
    of="cells",
    field="formula",
    concludes="which components of an estimate are better than guesses",
)
def score_profile(
    truth: Model | str,
    estimate: Model | str,
    *,
    null: str = "complexity",
    n_draws: int = 200,
    level: float = 0.95,
    domains: Domains | None = None,
    factors: Sequence[str] | None = None,
    rng: RNGLike = 0,
    ax: Axes | None = None,
    caption: bool = True,
) -> Axes:
    """Draw correctness and completeness of one estimate, overall and by component, beside the scores of guesses.

    Parameters
    ----------
    truth, estimate : Model or str
        The true and the estimated model, both acyclic.
    null : str
        Null model of the guesses.
    n_draws : int
        Guesses to draw; 0 for none.
    level : float
        Probability of the null reference intervals.
    domains : mapping, optional
        Values of multi-value factors.
    factors : sequence of str, optional
        Names of all factors that the method could use, over which guesses range; default those of truth and estimate.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    Axes
        Points with shared / own complexity; bars are null reference intervals, ticks their means.

    Raises
    ------
    ValueError
        If a model is cyclic, or mentions values that a factor does not have.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import causaleval_pd as ce
    >>> ax = ce.plot.score_profile("A*b+C<->D", "A+C<->D", n_draws=20)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['overall', 'literal', 'conjunctive', 'disjunctive', 'sequential']
    """
    true, estimated = (as_model(model) for model in (truth, estimate))
    setting = Setting(domains, factors=factors)
    table = quality_table(true, estimated, setting=setting)
    new_figure = ax is None
    ax = place_to_draw(ax, 6.4, 4.0)
    drawn = None
    check_whole(n_draws, "n_draws")
    check_number(level, "level", "(0, 1)")
    if n_draws:
        drawn = guesses(FormulaPairs.of((true,), (estimated,), setting), null, n_draws, rng)
    beside = np.full(len(_PARTS), np.nan)
    for i, measure in enumerate(_MEASURES):
        counts = table[table["measure"] == measure].groupby("component")[["shared", "complexity"]].sum()
        counts.loc["overall"] = counts.sum()
        shared, complexity = (counts.loc[_PARTS, name].to_numpy(np.float64) for name in ("shared", "complexity"))
        x = np.arange(len(_PARTS), dtype=np.float64) + (-0.16, 0.16)[i]
        colour = colours(2)[i]
        score = np.divide(shared, complexity, out=np.full(len(x), np.nan), where=complexity > 0)
        ax.plot(x, score, "os"[i], ms=8, color=colour, label=measure, zorder=3, linestyle="none")
        for at, value, part, whole, other in zip(x, score, shared, complexity, beside, strict=True):
            if np.isnan(value):
                ax.text(at, 0.02, "undefined", rotation=90, ha="center", size="x-small", zorder=4)
            else:
                # higher where the label beside it would meet it
                offset = (0, 18 if abs(value - other) < _NEAR else 7)
                style: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "size": "x-small", "zorder": 4}
                ax.annotate(f"{part:.3g}/{whole:.3g}", (at, value), offset, **style)
        beside = score
        if drawn is not None:
            names = [measure if part == "overall" else f"{measure}_{part}" for part in _PARTS]
            values = np.stack([np.asarray(get_metric(name)(drawn), np.float64) for name in names])
            low, high = quantile_interval(values, level)
            ax.bar(x, high - low, 0.2, bottom=low, color=colour, alpha=opacity(0.2), zorder=1)
            ax.hlines(np.nanmean(values, axis=1), x - 0.1, x + 0.1, color=colour, lw=1.5, zorder=2)
    ax.set(ylim=(-0.03, 1.2), ylabel="score (higher is better)")
    ax.set_xticks(range(len(_PARTS)), _PARTS)
    ax.axvline(0.5, color=tone(0.15, ax), lw=1)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False)
    _entitle(ax, new_figure, f"truth {true}", f"estimate {estimated}", pad=26)
    among = "" if factors is not None else ", over the factors of truth and estimate alone"
    shown = f"bars: {100 * level:.4g} % of {n_draws} guesses (null model {null!r}{among}), lines: their means"
    bars = f"; {shown}; above its bar a score is better than guessing" if n_draws else ""
    if caption:
        write_caption(ax, new_figure, f"Numbers: complexity that both models share / own complexity{bars}.")
    return ax
