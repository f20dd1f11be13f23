"""Questions put to functions, and to a real HTTP server on this machine that misbehaves."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.reasoning import CallFailed, Endpoint, RetryLater, ask, make_tasks

KEY = ["question"]


def questions(n=6):
    return pd.DataFrame({"question": range(n), "prompt": [f"prompt {i}" for i in range(n)]})


class Server:
    """A chat endpoint that behaves as told: a function of (prompt, how often it was asked) to what to do."""

    def __init__(self, behave):
        self.behave, self.seen, self.requests, self.lock = behave, Counter(), [], threading.Lock()
        self.closed = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = request["messages"][-1]["content"]
                with server.lock:
                    server.seen[prompt] += 1
                    server.requests.append((self.path, self.headers.get("Authorization"), request))
                    times = server.seen[prompt]
                with suppress(BrokenPipeError, ConnectionResetError):
                    self.act(server.behave(prompt, times))

            def act(self, action):
                if action == "hang":
                    server.closed.wait()
                    return
                if action == "drip":
                    self.send_response(200)
                    self.end_headers()
                    while not server.closed.wait(0.1):
                        self.wfile.write(b" ")
                        self.wfile.flush()
                    return
                if action == "close":
                    self.close_connection = True
                    self.connection.close()
                    return
                status, body, headers = action if isinstance(action, tuple) else (200, action, {})
                if isinstance(body, str):
                    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": body}}]}).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"


@contextmanager
def serving(behave, **options):
    server = Server(behave)
    thread = threading.Thread(target=server.http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        with Endpoint(server.url, "tiny", **({"timeout": 60} | options)) as model:
            yield server, model
    finally:
        server.closed.set()
        server.http.shutdown()
        server.http.server_close()
        thread.join()


def quick(table, reasoner, **options):
    return ask(table, reasoner, **({"key": KEY, "backoff": 0.01, "longest_wait": 0.05} | options))


@pytest.mark.slow
def test_a_well_behaved_server():
    with serving(lambda prompt, _: "Yes." if prompt.endswith("1") else "No.", api_key="secret", system="Be brief.") as (
        server,
        model,
    ):
        answered = quick(questions(), model)
        assert "secret" not in repr(model) + model.name
    assert answered["answer"].tolist() == [i == 1 for i in range(6)]
    assert answered["error"].isna().all()
    path, key, request = server.requests[0]
    assert (path, key, request["model"], request["temperature"]) == (
        "/v1/chat/completions",
        "Bearer secret",
        "tiny",
        0.0,
    )
    assert request["messages"][0] == {"role": "system", "content": "Be brief."}


MISBEHAVIOUR = {
    "too many requests": (429, b"slow down", {"Retry-After": "0.01"}),
    "strange retry header": (429, b"slow down", {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    "server error": (503, b"busy", {}),
    "garbage": (200, b"\xff\xfe<html>not json", {}),
    "other JSON": (200, b'{"choices": []}', {}),
    "no text": (200, b'{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}', {}),
    "deep JSON": (200, b"[" * 100_000, {}),
    "cut off": (200, b'{"choices": [', {"Content-Length": "500"}),
    "broken gzip": (200, b"nonsense", {"Content-Encoding": "gzip"}),
    "hangs": "hang",
    "drips": "drip",
    "closes": "close",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", MISBEHAVIOUR)
def test_what_fails_at_first_is_tried_again(kind):
    # only a server that hangs or drips is left when the time is over; there is enough of it for the second try
    timeout = 2 if kind in ("hangs", "drips") else 60
    with serving(lambda _, times: MISBEHAVIOUR[kind] if times == 1 else "yes", timeout=timeout) as (server, model):
        answered = quick(questions(3), model)
    assert answered["answer"].tolist() == [True] * 3
    assert set(server.seen.values()) == {2}


@pytest.mark.slow
def test_what_fails_for_ever_is_missing_with_a_reason():
    with serving(lambda prompt, _: (500, b"broken", {}) if prompt.endswith("2") else "no") as (server, model):
        answered = quick(questions(), model, retries=2)
    assert answered["answer"].isna().tolist() == [i == 2 for i in range(6)]
    assert answered["error"][2] == "status 500: broken (after 3 tries)"
    assert server.seen["prompt 2"] == 3


@pytest.mark.slow
def test_a_refused_question_is_not_tried_again():
    with serving(lambda prompt, _: (400, b"too long", {}) if prompt.endswith("2") else "no") as (server, model):
        answered = quick(questions(), model)
    assert answered["error"].dropna().to_dict() == {2: "status 400: too long"}
    assert server.seen["prompt 2"] == 1


def test_an_endless_reply_is_refused():
    with serving(lambda *_: (200, b"x" * (5 * 2**20), {})) as (_, model):
        assert "longer than" in quick(questions(1), model)["error"][0]


@pytest.mark.slow
@pytest.mark.parametrize("status", [401, 403, 404, 302])
def test_wrong_settings_end_the_questions_and_not_the_study(status):
    with serving(lambda *_: (status, b"who are you", {})) as (server, model):
        with pytest.warns(UserWarning, match=f"wrong settings: .*status {status}: who are you; check address"):
            found = quick(questions(200), model)
        assert sum(server.seen.values()) < 50
    counts = found["outcome"].value_counts()
    assert counts["failed"] >= 1
    assert counts["failed"] + counts["not_asked"] == 200


@pytest.mark.slow
def test_a_dead_server_ends_the_questions_and_not_the_study():
    with serving(lambda *_: "yes") as (_, model):
        pass
    message = "3 questions in a row failed: broken connection"
    with Endpoint(model.url, "tiny") as gone, pytest.warns(UserWarning, match=message):
        found = quick(questions(100), gone, retries=1, give_up_after=3)
    assert found["outcome"].value_counts()["not_asked"] > 50
    assert found["error"].dropna().str.contains("broken connection").all()


@pytest.mark.slow
def test_an_interrupted_call_goes_on_where_it_stopped(tmp_path):
    cache = tmp_path / "replies.sqlite"
    with serving(lambda prompt, _: (401, b"key expired", {}) if prompt == "prompt 15" else "yes") as (server, model):
        with pytest.warns(UserWarning, match="key expired"):
            quick(questions(40), model, cache=cache, workers=2)
        first = dict(server.seen)
        server.behave = lambda *_: "no"
        answered = quick(questions(40), model, cache=cache, workers=2)
        # what was answered before is not asked again
        again = {prompt: n for prompt, n in server.seen.items() if n > first.get(prompt, 0)}
        assert answered["answer"].notna().all()
        assert (answered["answer"].sum() + len(again)) == 40
        assert answered["answer"].sum() >= 10
        n = sum(server.seen.values())
        pd.testing.assert_frame_equal(quick(questions(40), model, cache=cache), answered)
        assert sum(server.seen.values()) == n


def test_the_cache_tells_reasoners_prompts_and_keys_apart(tmp_path):
    cache = tmp_path / "replies.sqlite"
    calls = []

    def reasoner(prompt):
        calls.append(prompt)
        return True

    table = questions(2)
    for kind, more in (
        ("a", table),
        ("b", table),
        ("a", table.assign(prompt="other")),
        ("a", table.assign(question=[7, 8])),
    ):
        quick(more, reasoner, cache=cache, name=kind)
    assert len(calls) == 8
    quick(table, reasoner, cache=cache, name="b")
    assert len(calls) == 8
    with pytest.raises(ValueError, match="pass name="):
        quick(table, lambda _: "yes", cache=cache)


def test_failures_are_not_cached(tmp_path):
    cache = tmp_path / "replies.sqlite"

    def failing(prompt):
        raise CallFailed("not today")

    assert quick(questions(2), failing, cache=cache, name="x")["error"].tolist() == ["not today"] * 2
    assert quick(questions(2), lambda _: "yes", cache=cache, name="x")["answer"].all()
    with sqlite3.connect(cache) as store:
        assert store.execute("SELECT COUNT(*) FROM replies").fetchone() == (2,)
    store.close()


def test_a_file_that_is_no_cache_is_refused(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("a,b\n" * 1000, encoding="utf-8")
    with pytest.raises(ValueError, match="not a cache of replies"):
        quick(questions(1), lambda _: "yes", cache=path, name="x")
    assert path.read_text(encoding="utf-8") == "a,b\n" * 1000


def test_functions_and_their_errors():
    attempts = Counter()

    def moody(prompt):
        attempts[prompt] += 1
        if attempts[prompt] < 3:
            raise [TimeoutError("slow"), RetryLater("later", 0.001)][attempts[prompt] - 1]
        return "yes"

    assert quick(questions(4), moody)["answer"].all()

    def buggy(prompt):
        raise KeyError("oops")

    found = quick(questions(4), buggy)
    assert found["outcome"].eq("failed").all()
    assert found["error"].eq("KeyError: 'oops'").all()
    with pytest.warns(UserWarning, match="2 questions in a row failed: KeyError: 'oops'"):
        assert quick(questions(40), buggy, give_up_after=2)["outcome"].eq("not_asked").any()
    assert "returns text, a Reply, True or False, found int" in quick(questions(1), lambda _: 1)["error"][0]
    assert "found NoneType" in quick(questions(1), lambda _: None)["error"][0]


def test_calls_are_made_at_once_and_rows_keep_their_order():
    together = threading.Barrier(4, timeout=60)

    def reasoner(prompt):
        together.wait()
        return prompt.endswith(("0", "2"))

    answered = quick(questions(4), reasoner, workers=4)
    assert answered["answer"].tolist() == [True, False, True, False]
    assert quick(questions(0), reasoner).empty


def test_waits_double_are_spread_and_bounded():
    from causaleval_pd.reasoning.asking.calls import Waits

    waits = Waits(5, 1.0, 20.0)
    keys = [f"{i:016x}{0:016x}" for i in range(1, 50)]
    for attempt in range(4):
        seconds = [waits.seconds(attempt, 0.0, key) for key in keys]
        assert 0.5 * 2**attempt <= min(seconds) < max(seconds) <= 2**attempt
    assert waits.seconds(10, 0.0, keys[0]) == 20.0
    assert waits.seconds(0, 7.0, keys[0]) == 7.0
    assert waits.seconds(0, 1e9, keys[0]) == 20.0


def test_a_questionnaire_end_to_end(capsys):
    tasks = make_tasks("flu_vaccine", [[2, 2]], n_samples=3, rng=1)
    table = tasks.questionnaire()
    table["prompt"] = tasks.prompts(table, "json")
    truth = dict(zip(table["prompt"], table["truth"], strict=True))
    with ce.set_options(progress=True):
        answered = ask(table, lambda prompt: json.dumps({"answer": "yes" if truth[prompt] else "no"}))
    assert (answered["answer"] == answered["truth"]).all()
    assert f"{len(table)}/{len(table)}" in capsys.readouterr().err


def test_tables_are_checked():
    with pytest.raises(ValueError, match="no column 'prompt'"):
        ask(questions().drop(columns="prompt"), lambda _: "yes", key=KEY)
    with pytest.raises(ValueError, match="two questions have the key"):
        quick(questions().assign(question=1), lambda _: "yes")
    with pytest.raises(ValueError, match="row 0 has no prompt"):
        quick(questions(1).assign(prompt=None), lambda _: "yes")
    with pytest.raises(ValueError, match="workers must be"):
        quick(questions(), lambda _: "yes", workers=0)
    with pytest.raises(ValueError, match="must start with http"):
        Endpoint("localhost:8000", "m")
