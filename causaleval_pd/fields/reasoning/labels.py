"""The field of answers with three and more labels: cells, their metric, null model, and reading of replies.

Yes/no answers are a field of their own, `answer`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import is_missing
from ...contract.checks import check_type, name_row, shown, warn
from ...contract.context import Context
from ...contract.field import Field, register_field
from ...contract.law import ClosedForm, ClosedFormRule, register_closed_form
from ...contract.metric import Metric, metric
from ...contract.null import Controls, DrawnControls, Matching, Null, register_null
from ...contract.pairs import Batch
from .asking import last_words, read_replies
from .field import ValuePairs, known_rows, law_of_answers, not_pairwise
from .nulls import Decks, Moves
from .yes_counts import Floats, Integers

__all__ = ["label_accuracy", "parse_labels"]

#: most different labels of a column; more are free texts
MOST_LABELS = 100
#: marks of graphs and formulas, which labels lack that are recognised without being named
_MARKS = re.compile(r"[-<>=*+;]")


@dataclass(frozen=True, eq=False)
class LabelPairs(ValuePairs):
    """True and given labels, by their positions in `labels`."""

    cell_kind = "label"
    #: the labels, in alphabetical order
    labels: NDArray[np.object_]

    @classmethod
    def of(cls, truth: Sequence[str], estimate: Sequence[str]) -> LabelPairs:
        """Return the pairs of two columns without missing values."""
        codes, labels = pd.factorize(np.array([*truth, *estimate], object), sort=True)
        return cls(codes[: len(truth)], codes[len(truth) :], np.asarray(labels, object))

    def describe(self, position: int) -> str:
        """Describe the pair at `position`."""
        true, estimated = (self.labels[codes[position]] for codes in (self.truth, self.estimate))
        return f"truth is {true!r} and the label {estimated!r}"


def _holds_labels(cells: pd.Series) -> bool:
    """Return whether a column is categorical, with names that no text of a graph or formula is."""
    names = cells.cat.categories if isinstance(cells.dtype, pd.CategoricalDtype) else pd.Index([])
    return 0 < len(names) <= MOST_LABELS and all(isinstance(x, str) and not _MARKS.search(x) for x in names)


def _label(cell: Any) -> str | None:
    """Return the text of a label: itself, or that of a whole number or a truth value; None for other cells."""
    if isinstance(cell, str):
        return cell if cell.strip() == cell and cell else None
    if isinstance(cell, (bool, np.bool_, int, np.integer)):
        return str(cell)
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return None


def _no_label(cell: Any) -> str:
    hint = ""
    if isinstance(cell, str):
        hint = ", with blanks around it; remove them by .str.strip()" if cell.strip() else "; a missing answer is pd.NA"
    return f"found {shown(cell)}{hint}"


def _refuse_cell(cells: pd.Series, column: str) -> ValueError:
    """Return the error of the first cell of a column that is no label."""
    others = ((row, cell) for row, cell in enumerate(cells) if not is_missing(cell) and _label(cell) is None)
    row, cell = next(others)
    return ValueError(
        f"{name_row(row, cells.index, column)}: a label is a text, a whole number, True or False, {_no_label(cell)}"
    )


def coerce_labels(cells: pd.Series, column: str) -> pd.Series:
    """Return the labels of a column as texts."""
    try:
        codes, distinct = pd.factorize(cells.astype(object))
    except TypeError:  # a list or another cell without a hash
        raise _refuse_cell(cells, column) from None
    names = [_label(cell) for cell in distinct]
    if None in names:
        raise _refuse_cell(cells, column)
    if len(set(names)) > MOST_LABELS:
        raise ValueError(
            f"column {column!r} has {len(set(names)):,} different labels, the first {shown(names[0])}; at most "
            f"{MOST_LABELS} are labels: read the labels in replies by ce.reasoning.parse_labels(replies, labels)"
        )
    texts = np.array([*names, None], object)[codes]
    return pd.Series(pd.array(texts, dtype="str"), index=cells.index, name=cells.name)


#: how the two labels of a yes or no question are written
_YES_NO = {"yes": "true", "1": "true", "no": "false", "0": "false"}


def _alike(label: str) -> str:
    """Return a label without case, gaps between words and marks around it, but with arrows and signs."""
    return re.sub(r"[\s_]+|(?<=[^\W\d])-(?=[^\W\d])", "", label).strip(".,;:!?'\"*`()").casefold() or label


def check_labels(truth: pd.Series, estimate: pd.Series) -> None:
    """Refuse labels of answers that are a true one in other case, or yes for True; warn where most are no true one."""
    known = truth.dropna().unique().tolist()
    same = {_alike(label): label for label in known}
    plain = {_YES_NO.get(label, label): name for label, name in same.items()}
    is_yes_no = {*plain} <= {*_YES_NO.values()}
    for label in estimate.dropna().unique():
        near = same.get(_alike(label))
        if near is None and is_yes_no:
            near = plain.get(_YES_NO.get(_alike(label), _alike(label)))
        if near is not None and label not in known:
            row = int((estimate == label).to_numpy(bool).argmax())
            raise ValueError(
                f"{name_row(row, estimate.index, str(estimate.name))}: found the label {label!r}, where truths have "
                f"{near!r}; write both alike, as by .astype('str').replace({{{label!r}: {near!r}}})"
            )
    answers = estimate[truth.notna() & estimate.notna()]
    others = answers[~answers.isin(known)]
    # a single truth may be wrong by chance
    if len(known) > 1 and len(others) > len(answers) / 2:
        reader = "parse_answers(replies)" if is_yes_no else "parse_labels(replies, labels)"
        warn(
            f"{len(others)} of {len(answers)} answers in column {estimate.name!r} have labels that no truth has, the "
            f"first {shown(others.iloc[0])}, and are wrong: read the labels in replies by ce.reasoning.{reader}, and "
            "make refusals missing, as pd.NA"
        )


def _label_batches(truth: pd.Series, estimate: pd.Series, context: Context | None) -> Iterator[Batch]:
    """Align by row, in one batch."""
    check_labels(truth, estimate)
    rows = known_rows(truth, estimate)
    if len(rows):
        yield Batch(rows, LabelPairs.of(*(side.iloc[rows].tolist() for side in (truth, estimate))))


def _label_pair(truth: Any, estimate: Any) -> LabelPairs:
    names = [_label(cell) for cell in (truth, estimate)]
    for cell, name in zip((truth, estimate), names, strict=True):
        if name is None:
            raise TypeError(f"a label is a text, a whole number, True or False, {_no_label(cell)}")
    return LabelPairs.of([str(names[0])], [str(names[1])])


LABELS = register_field(
    Field(
        name="label",
        default_metrics=("label_accuracy",),
        default_null="permute_answers",
        holds=_holds_labels,
        coerce=coerce_labels,
        batches=_label_batches,
        pair=_label_pair,
        truth_clusters=False,
        unit="sample",
        context=("group",),
    )
)


LABEL = register_closed_form(
    ClosedFormRule(
        "label",
        "label",
        "A function of one true and one given label. A control has a label of the reasoner's, by its share among the "
        "answers, so its law has as many values as there are labels.",
        lambda value: not_pairwise(value, LabelPairs.of(list("aaabbbccc"), list("abcabcabc"))),
    )
)


@metric(
    field="label",
    kinds=("label",),
    range=(0, 1),
    direction="maximize",
    optimum=1,
    symmetric=True,
    closed_form=LABEL.name,
    long_name="share of right labels",
)
def label_accuracy(pairs: LabelPairs) -> Floats:
    """Mark right labels: 1 where the label is the true one, else 0.

    The mean over rows is the accuracy. A label that no truth has is wrong.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.label_accuracy("collider", "chain")
    0.0
    """
    return (pairs.truth == pairs.estimate).astype(np.float64)


def _answers(matching: Matching, *, moved: bool) -> tuple[Decks | Moves, NDArray[np.object_]]:
    """Collect the labels of rows, and return their names in alphabetical order."""
    codes, labels = pd.factorize(matching.estimate, sort=True)
    codes, names = np.asarray(codes, np.int64), np.asarray(labels, object)
    return Moves.of(matching, codes) if moved else Decks.of(matching, codes, len(names)), names


def _shuffled_labels(matching: Matching, rows: Integers, pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Shuffle labels over samples."""
    answers, labels = matching.prepared
    # labels of the pairs and of the answers together
    every = np.unique(np.concatenate([pairs.labels, labels]).astype(object))
    place, codes = np.searchsorted(every, pairs.labels), np.searchsorted(every, labels)
    among = LabelPairs(place[pairs.truth], place[pairs.estimate], every)

    def drawn(start: int, count: int) -> LabelPairs:
        estimate = codes[answers.draw(rows, keys, start, count)].ravel()
        return replace(among, truth=np.repeat(among.truth, count), estimate=estimate)

    def known(metric: Metric) -> ClosedForm | None:
        if metric.closed_form != LABEL.name or isinstance(answers, Moves):
            return None
        constants = (replace(among, estimate=np.full(pairs.n, code)) for code in codes.tolist())
        return law_of_answers(metric, constants, answers.shares[rows])

    return DrawnControls(pairs, "label", drawn, known, cost=100, work=50.0)


register_null(
    LABELS.name,
    Null(
        "permute_answers",
        "the reasoner's own labels, shuffled over samples within question",
        _shuffled_labels,
        prepare=partial(_answers, moved=False),
        estimated=True,
        together=Null(
            "move_answers",
            "the labels of other clusters",
            _shuffled_labels,
            prepare=partial(_answers, moved=True),
            estimated=True,
        ),
    ),
)


def parse_labels(
    replies: Iterable[Any] | pd.Series, labels: Sequence[str], *, how: Callable[[str], str | None] | None = None
) -> pd.Series:
    r"""Read replies as one of several labels; what cannot be read with certainty is missing.

    By default the label stands in the last line, "Answer: collider", "Final answer: collider" or alone. Case, markdown
    and hidden reasoning (`<think>`) do not matter. Anything else is missing, and never guessed.

    Parameters
    ----------
    replies : Series or iterable
        Texts; whole numbers, True and False are read as texts, and missing values (failed calls) stay missing.
    labels : sequence of str
        The labels.
    how : callable, optional
        Function from a text to one of the labels or None.

    Returns
    -------
    Series
        Categorical, on the index of `replies`.

    Raises
    ------
    ValueError
        If labels repeat or differ by case only, a reply is another object, or a function fails or returns anything
        else; names the row.

    Warns
    -----
    UserWarning
        If 5 % of the texts or more are unread.

    Examples
    --------
    >>> from causaleval_pd.reasoning import parse_labels
    >>> labels = ["chain", "fork", "collider"]
    >>> parse_labels(["Both arrows meet in Z.\nAnswer: **Collider**", "fork", None], labels).tolist()
    ['collider', 'fork', nan]
    """
    check_type(labels, (list, tuple, pd.Index), "a list of labels", "labels")
    words = {last_words(label): label for label in labels if isinstance(label, str)}
    if len(words) < len(labels) or not all(words):
        raise ValueError(f"labels must be different texts, also without regard to case, found {shown(list(labels))}")

    def read(reply: str | None) -> str | None:
        label = None if reply is None else words.get(last_words(reply)) if how is None else how(reply)
        if label is not None and label not in words.values():
            raise ValueError(f"it must return one of {list(labels)} or None, found {shown(label)}")
        return label

    index, choices = read_replies(
        replies, _label, read, f"a last line such as 'Answer: {next(iter(words.values()), '')}'"
    )
    return pd.Series(pd.Categorical(choices, categories=list(words.values())), index=index, name="label")
