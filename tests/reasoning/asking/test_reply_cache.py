"""The cache of replies: shared by processes, killed, damaged, and with text that is not valid Unicode."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

import causaleval_pd
from causaleval_pd.reasoning import CallFailed, ask

# asks questions 0, 1, 2 ...; answers as many as the lines that it reads, and prints one line a reply
CHILD = """
import sys
import pandas as pd
from causaleval_pd.reasoning import ask

def reasoner(prompt):
    print("asked", prompt, flush=True)
    sys.stdin.readline()
    return "yes"

cache, first = sys.argv[1], int(sys.argv[2])
numbers = range(first, first + 4)
table = pd.DataFrame({"question": numbers, "prompt": [f"prompt {i}" for i in numbers]})
ask(table, reasoner, key=["question"], cache=cache, name="x", workers=1)
"""


def questions(n=6, start=0):
    numbers = range(start, start + n)
    return pd.DataFrame({"question": numbers, "prompt": [f"prompt {i}" for i in numbers]})


def quick(table, reasoner, cache, **options):
    return ask(table, reasoner, **({"key": ["question"], "cache": cache, "name": "x", "backoff": 0.01} | options))


class AskedAgain(KeyboardInterrupt):
    """Ends the call, as any other exception does not."""


def never(prompt):
    raise AskedAgain(f"{prompt} was asked again")


def child(cache, first):
    package = str(Path(causaleval_pd.__file__).parents[1])
    path = os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(cache), str(first)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def answer(process, times):
    """Let a child answer; return when it has asked the next question, so that the replies before are written."""
    for _ in range(times):
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith("asked")


@pytest.mark.slow
def test_processes_share_a_cache_and_a_killed_one_loses_no_reply(tmp_path):
    cache = tmp_path / "replies.sqlite"
    with child(cache, 0) as one, child(cache, 100) as other:
        try:
            assert one.stdout.readline() == "asked prompt 0\n"
            assert other.stdout.readline() == "asked prompt 100\n"
            answer(one, 2)
            answer(other, 3)
            # both are waiting for a reply: the cache is read and written at once
            quick(questions(2), never, cache)
            quick(questions(3, 100), never, cache)
            assert quick(questions(2, 200), lambda _: "no", cache)["answer"].eq(False).all()
            answer(one, 1)
        finally:
            one.kill()
            other.kill()
    for start, n in ((0, 3), (100, 3), (200, 2)):
        quick(questions(n, start), never, cache)
    with pytest.raises(AskedAgain, match="prompt 3 was asked again"):
        quick(questions(4), never, cache)


def test_replies_under_way_are_kept_when_the_call_ends(tmp_path):
    cache = tmp_path / "replies.sqlite"
    together = threading.Barrier(4, timeout=10)
    failed = threading.Event()

    def reasoner(prompt):
        together.wait()
        if prompt == "prompt 0":
            failed.set()
            raise PermissionError("key expired")
        failed.wait(10)
        return "yes"

    with pytest.warns(UserWarning, match="key expired"):
        quick(questions(4), reasoner, cache, workers=4)
    found = quick(questions(4), lambda _: "no", cache)
    assert found["reply"].tolist() == ["no", "yes", "yes", "yes"]


def test_an_error_ends_waits_before_retries(tmp_path):
    waiting = threading.Event()
    calls = []

    def reasoner(prompt):
        if prompt == "prompt 0":
            waiting.wait(10)
            raise PermissionError("key expired")
        calls.append(prompt)
        waiting.set()
        raise TimeoutError

    # with waits of an hour this would not return
    with pytest.warns(UserWarning, match="key expired"):
        quick(questions(2), reasoner, None, backoff=3600.0, longest_wait=3600.0, workers=2)
    assert calls == ["prompt 1"]


STRANGE = {
    "lone surrogate": ("\ud800\nyes", "\ufffd\nyes", True),
    "lone surrogate in the answer": ("yes \ud800", "yes \ufffd", None),
    "lone low surrogate first": ("\udc00\nyes", "\ufffd\nyes", True),
    "surrogates in the wrong order": ("no \udc00\ud800\nno", "no \ufffd\ufffd\nno", False),
    "JSON": ('{"answer": "no", "why": "\udfff"}', '{"answer": "no", "why": "\ufffd"}', False),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_lone_surrogates_are_replaced_and_noted(kind, tmp_path):
    reply, shown, meaning = STRANGE[kind]
    cache = tmp_path / "replies.sqlite"
    found = quick(questions(2), lambda prompt: reply if prompt.endswith("0") else "yes", cache)
    assert found["reply"].tolist() == [shown, "yes"]
    assert found["answer"].tolist() == [pd.NA if meaning is None else meaning, True]
    n = shown.count("\ufffd")
    assert found["error"][0] == f"{n} lone surrogates in the reply are replaced by U+FFFD"
    assert found["error"].isna().tolist() == [False, True]
    found.to_csv(tmp_path / "found.csv")
    pd.testing.assert_frame_equal(quick(questions(2), never, cache), found)
    anew = quick(questions(2), lambda p: reply if p.endswith("0") else "yes", None)
    pd.testing.assert_frame_equal(anew.drop(columns="seconds"), found.drop(columns="seconds"))
    # the cache holds the reply as it was
    with closing(sqlite3.connect(cache)) as store:
        stored = [x for (x,) in store.execute("SELECT reply FROM replies") if isinstance(x, bytes)]
    assert [x.decode("utf-8", "surrogatepass") for x in stored] == [reply]


@pytest.mark.parametrize(
    "reply", ["no \x00 nul", "", "\ufffe\uffff", "\ufffd", "no\r\n\x1b[31m", "\U0010ffff", "e\u0301" * 50]
)
def test_valid_text_is_kept_as_it_is(reply, tmp_path):
    cache = tmp_path / "replies.sqlite"
    found = quick(questions(1), lambda _: reply, cache)
    assert found["reply"].tolist() == [reply]
    assert found["error"].isna().all()
    pd.testing.assert_frame_equal(quick(questions(1), never, cache), found)


def test_halves_of_a_character_are_joined(tmp_path):
    cache = tmp_path / "replies.sqlite"
    found = quick(questions(1), lambda _: "yes \ud83d\ude00", cache)
    assert found["reply"].tolist() == ["yes \U0001f600"]
    assert found["error"].isna().all()
    pd.testing.assert_frame_equal(quick(questions(1), never, cache), found)


def test_lone_surrogates_in_prompts_keys_and_errors(tmp_path):
    cache = tmp_path / "replies.sqlite"
    table = pd.DataFrame({"question": ["a", "\ud800"], "prompt": ["\udfff", "b"]}, dtype=object)
    assert quick(table, lambda _: "yes", cache, name="model \ud800")["answer"].all()
    assert quick(table, never, cache, name="model \ud800")["answer"].all()

    def refuse(prompt):
        raise CallFailed("never \ud800 " + "x" * 10_000)

    errors = quick(questions(1), refuse, cache)["error"]
    assert errors[0].startswith("never \ufffd xxx")
    assert len(errors[0]) == 1000


def test_a_huge_reply_is_an_error_of_its_question(tmp_path):
    cache = tmp_path / "replies.sqlite"
    n = 4 * 2**20
    found = quick(questions(2), lambda prompt: "x" * (n + 1) if prompt.endswith("0") else "no", cache)
    assert found["error"][0] == f"the reply has {n + 1} characters, more than {n}"
    assert found["answer"].isna().tolist() == [True, False]


def test_a_cache_of_the_earlier_layout_is_read(tmp_path):
    cache, plain = tmp_path / "old.sqlite", tmp_path / "new.sqlite"
    quick(questions(2), lambda _: "yes", plain)
    with closing(sqlite3.connect(plain)) as store:
        rows = store.execute("SELECT key, reply FROM replies").fetchall()  # without what is known of replies
    with closing(sqlite3.connect(cache)) as store, store:
        store.execute("CREATE TABLE replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)")
        store.executemany("INSERT INTO replies VALUES (?, ?)", rows)
    assert quick(questions(2), never, cache)["answer"].all()


def full_cache(path):
    quick(questions(200), lambda prompt: f"yes, {prompt} " + "x" * 500, path)
    return path.read_bytes()


@pytest.mark.slow
def test_a_cut_cache_is_refused_or_right(tmp_path):
    whole = full_cache(tmp_path / "whole.sqlite")
    path = tmp_path / "cut.sqlite"
    refused = 0
    for size in [1, 10, 50, 99, 100, 101, 1000, *range(4096, len(whole), 3 * 4096), len(whole) - 1]:
        path.write_bytes(whole[:size])
        try:
            found = quick(questions(200), lambda _: "no", path)
        except ValueError as error:
            refused += 1
            assert str(path) in str(error)
            assert "damaged" in str(error)
        else:
            assert set(found["reply"].str[:3]) <= {"yes", "no"}
        for file in tmp_path.glob("cut*"):
            file.unlink()
    assert refused > 10


def test_a_damaged_cache_is_refused(tmp_path):
    whole = bytearray(full_cache(tmp_path / "whole.sqlite"))
    path = tmp_path / "damaged.sqlite"
    for page in range(1, len(whole) // 4096, 7):
        damaged = whole.copy()
        damaged[page * 4096 : page * 4096 + 4096] = b"\xa5" * 4096
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"damaged\.sqlite .*damaged"):
            quick(questions(200), lambda _: "no", path)
        for file in tmp_path.glob("damaged*"):
            file.unlink()


@pytest.mark.parametrize(
    ("create", "row"),
    [
        ("CREATE TABLE runs (shd INTEGER)", "INSERT INTO runs VALUES (1)"),
        ("CREATE TABLE replies (id INTEGER)", "INSERT INTO replies VALUES (1)"),
    ],
)
def test_another_database_is_refused_and_left_as_it_is(create, row, tmp_path):
    path = tmp_path / "study.sqlite"
    with closing(sqlite3.connect(path)) as store, store:
        store.execute(create)
        store.execute(row)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"study\.sqlite"):
        quick(questions(1), lambda _: "yes", path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["study.sqlite"]


def test_places_without_a_file_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "missing" / "replies.sqlite"):
        with pytest.raises(ValueError, match="cannot be used"):
            quick(questions(1), lambda _: "yes", path)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "replies.sqlite"
    quick(questions(1), lambda _: "yes", path)
    with closing(sqlite3.connect(path)) as store, store:
        store.execute("UPDATE replies SET reply = ?", (b"\xff\xfe",))
    with pytest.raises(ValueError, match="damaged"):
        quick(questions(1), never, path)
