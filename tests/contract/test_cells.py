"""Packed cells: the bytes of a format are taken for no other, whatever their names and sizes are."""

import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.cells import CellFormat, format_of, packed_column, register_cell_format
from causaleval_pd.contract.field import FIELDS

#: lengths of names whose low bytes are the magic bytes of formats (0xCB to 0xCE), beside versions 1 and 2
LENGTHS = sorted({high * 256 + magic for high in (0, 1, 2) for magic in range(0xC8, 0xD0)})
NOUNS = {"graph": "a packed graph", "lagged": "a packed lagged graph", "scores": "packed scores"}


def column(field: str, length: int) -> pd.Series:
    """Return a column of one cell whose names, joined, have `length` bytes."""
    name = "x" * (length - 2)
    if field == "graph":
        return ce.graph_column([f"a -> {name}"])
    if field == "lagged":
        return ce.lagged_column([f"a@-1 -> {name}"])
    return ce.score_column([pd.DataFrame([[0, 0.5], [0.5, 0]], ["a", name], ["a", name])])


@pytest.mark.parametrize("field", NOUNS)
@pytest.mark.parametrize("length", LENGTHS)
def test_a_cell_is_of_one_field_whatever_the_length_of_its_names(field, length):
    cells = column(field, length)
    assert format_of(cells[0]).noun == NOUNS[field]
    packed = ("graph", "lagged", "scores", "network")
    assert [name for name in packed if FIELDS.find(name).holds(cells)] == [field]
    with pytest.raises(ValueError, match=f"found {NOUNS[field]}, expected a network"):
        ce.as_network(cells[0])


@pytest.mark.parametrize("length", [717, 973])
def test_controls_of_graphs_with_names_of_any_length(length):
    name = "x" * (length - 4)
    truth = ce.graph_column([f"a -> {name}; b -> {name}"])
    runs = pd.DataFrame({"truth": truth, "estimate": truth})
    assert runs.ceval.with_controls(n_draws=5, rng=0)["shd"].tolist() == [0.0]


def test_networks_are_recognised_too():
    network = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.3, 0.7], "B": [[0.9, 0.1], [0.2, 0.8]]})
    assert format_of(network.to_bytes()).noun == "a packed network"
    with pytest.raises(ValueError, match="found a packed lagged graph, expected a packed graph; this is a"):
        ce.graph_column(ce.lagged_column(["a@-1 -> b"]).tolist())


@pytest.mark.parametrize("text", ["\u0391 -> B", "\u038e\u038f" * 40, "A -> B", "x" * 32 + "\u038e\u038f" * 20, ""])
def test_text_in_bytes_is_no_packed_cell(text):
    assert format_of(text.encode()) is None


def test_a_second_format_with_the_same_magic_at_the_same_place_is_refused():
    with pytest.raises(ValueError, match="has the magic byte 0xce at byte 32, as a packed graph has; choose another"):
        register_cell_format(CellFormat("a packed tree", 0xCE, 32))


def test_magic_bytes_of_text_are_refused():
    message = "the magic byte of a packed tree is 0x41, expected 0x80 to 0xff, which no line of text has"
    with pytest.raises(ValueError, match=message):
        register_cell_format(CellFormat("a packed tree", 0x41, 32))


def test_texts_of_bytes_that_are_no_packed_cells_are_left_to_the_field():
    """Whatever stands behind the quote, without a warning of Python about its escapes."""
    for text in ("b'", "b'A'", r"b'\p\x', \xff\x", 'b"' + "x" * 1000, "b'\u2192' -> A"):
        with pytest.raises((TypeError, ValueError), match="row 0"):
            ce.score_column([text])
        with pytest.raises((TypeError, ValueError), match="row 0"):
            ce.lagged_column([text])


NETWORK = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.1, 0.9]]})
MAKERS = {
    "graph": (ce.graph_column, ["A o-> B; C"]),
    "lagged": (ce.lagged_column, ["A@-1 o-> B"]),
    "scores": (ce.score_column, [pd.DataFrame([[0, 0.5], [0.5, 0]], ["a", "b"], ["a", "b"])]),
    "network": (ce.network_column, [NETWORK]),
}


@pytest.mark.parametrize("field", MAKERS)
def test_damaged_cells_are_refused_with_their_row_once(field):
    """Whatever number of bytes is missing or more, and whichever byte is another."""
    maker, cells = MAKERS[field]
    packed = maker(cells)
    [cell] = packed
    damaged = [cell[:length] for length in range(1, len(cell))] + [cell + b"x", cell + b"\0" * 8]
    damaged += [cell[:at] + bytes([cell[at] ^ 0xF0]) + cell[at + 1 :] for at in range(len(cell))]
    damaged += [cell[:-8] + b"\0\0\0\0\0\0\xf0\x7f"]
    for one in damaged:
        for made in (lambda one=one: maker([one]), lambda one=one: maker(packed_column([one]))):
            try:
                made()
            except (TypeError, ValueError) as error:
                assert str(error).startswith("row 0 (index 0): ")
                assert str(error).count("row 0") == 1
