"""Endpoints against servers on this machine that answer byte by byte, too much, or with the key."""

from __future__ import annotations

import gzip
import json
import logging
import pathlib
import pickle
import re
import socket
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from contextlib import contextmanager, suppress

import pandas as pd
import pytest

from causaleval_pd.reasoning import Endpoint, RetryLater, answer_scores, ask, make_tasks, parse_answers

KNOWN = pathlib.Path(__file__).parents[2] / "known_answers"
SECRET = "sk-Ab9/+x=&<7>Zq"


def questions(n=1):
    return pd.DataFrame({"question": range(n), "prompt": [f"prompt {i}" for i in range(n)]})


def quick(model, table=None, **options):
    table = questions() if table is None else table
    return ask(table, model, **({"key": ["question"], "retries": 0, "backoff": 0.01} | options))


def response(body, *headers, status="200 OK"):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def chat(text):
    return response(json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode())


@contextmanager
def serving(act):
    """Serve `act(connection, request)`; bytes that it returns are sent."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)
    stop = threading.Event()

    def one(connection):
        with connection, suppress(OSError):
            request = b""
            while b"\r\n\r\n" not in request:
                request += connection.recv(65536)
            head, body = request.split(b"\r\n\r\n", 1)
            fields = head.decode().lower().split("\r\n")
            length = int(next(f for f in fields if f.startswith("content-length")).split(":")[1])
            while len(body) < length:
                body += connection.recv(65536)
            connection.sendall(act(connection, head + b"\r\n\r\n" + body) or b"")

    def loop():
        while not stop.is_set():
            with suppress(TimeoutError):
                threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        stop.set()
        thread.join()
        listener.close()


def drip(parts):
    """Send parts slowly until the client hangs up, and count them."""
    sent = []

    def act(connection, _):
        for part in parts:
            connection.sendall(part)
            sent.append(part)
            time.sleep(0.05)

    return act, sent


DRIPPED = {
    "status line": [b"H", b"T", b"T", b"P", *[b"/"] * 200],
    "headers": [b"HTTP/1.1 200 OK\r\n", *[b"X-More: 1\r\n"] * 200],
    "interim responses": [b"HTTP/1.1 100 Continue\r\n\r\n"] * 200,
    "body": [b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", *[b" "] * 200],
    "chunks": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *[b"1\r\n \r\n"] * 200],
}


@pytest.mark.parametrize("kind", DRIPPED)
def test_the_timeout_is_for_the_whole_request(kind):
    act, sent = drip(DRIPPED[kind])
    with serving(act) as url, Endpoint(url, "tiny", timeout=0.5) as model:
        assert "no reply within 0.5 s" in quick(model)["error"][0]
    # the server was left before it had sent a quarter: each part took longer than 0.05 s
    assert len(sent) < 50


def test_a_server_that_does_not_answer_costs_one_timeout():
    hold = threading.Event()
    with serving(lambda *_: hold.wait(30) and None) as url, Endpoint(url, "tiny", timeout=0.2) as model:
        with pytest.raises(RetryLater, match=r"no reply within 0\.2 s"):
            model("x")
        hold.set()


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "5", None, True])
def test_impossible_timeouts_are_refused(timeout):
    with pytest.raises(ValueError, match="timeout must be a positive number"):
        Endpoint("http://127.0.0.1/v1", "tiny", timeout=timeout)


@pytest.mark.parametrize("option", ["backoff", "longest_wait"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "5"])
def test_impossible_waits_are_refused(option, value):
    with pytest.raises(ValueError, match=f"{option} must"):
        ask(questions(), lambda _: "yes", key=["question"], **{option: value})


@pytest.mark.parametrize("after", [float("nan"), float("inf"), -5.0, 1e300])
def test_requested_waits_are_bounded(after):
    calls = []

    def busy(prompt):
        calls.append(prompt)
        if len(calls) < 3:
            raise RetryLater("busy", after)
        return "yes"

    assert quick(busy, retries=5, longest_wait=0.01)["answer"].all()
    calls.clear()
    assert quick(busy, retries=5000.0, longest_wait=0.01, workers=1.0)["answer"].all()


@pytest.mark.slow
def test_an_unrepeatable_wait_does_not_overflow():
    def never(prompt):
        raise TimeoutError

    assert quick(never, retries=1100, backoff=1e-300, longest_wait=1e-9)["error"][0].endswith("(after 1101 tries)")


@pytest.mark.slow
def test_compressed_replies_are_limited_in_full_length():
    bomb = response(gzip.compress(b" " * 2**28, 9), "Content-Encoding: gzip")
    assert len(bomb) < 300_000
    with serving(lambda *_: bomb) as url, Endpoint(url, "tiny", timeout=30) as model:
        assert quick(model)["error"][0] == "the reply is longer than 4194304 bytes"


@pytest.mark.slow
def test_compressed_replies_are_read_though_not_requested():
    seen = []

    def act(_, request):
        seen.append(request.lower())
        body = chat("Yes.").split(b"\r\n\r\n", 1)[1]
        return response(gzip.compress(body), "Content-Encoding: gzip")

    with serving(act) as url, Endpoint(url, "tiny") as model:
        assert quick(model)["reply"].tolist() == ["Yes."]
    assert b"accept-encoding: identity" in seen[0]
    with serving(lambda *_: response(b"\x8b\x02", "Content-Encoding: br")) as url, Endpoint(url, "tiny") as model:
        assert "content encoding" in quick(model)["error"][0]


def test_refusals_may_have_any_length():
    body = b"x" * (5 * 2**20)
    with serving(lambda *_: response(body, status="503 Busy")) as url, Endpoint(url, "tiny", timeout=30) as model:
        error = quick(model)["error"][0]
    assert error.startswith("status 503: xxx")
    assert len(error) < 300


def outputs(model, table, tmp_path, caplog):
    """Return everything that a user sees of a call that may fail."""
    cache = tmp_path / "replies.sqlite"
    parts = [repr(model), str(model), model.name, str(vars(model))]
    for call in (lambda: quick(model, table, cache=cache), lambda: model("x")):
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                found = call()
            parts += [str(warning.message) for warning in warned]
            parts += [repr(found), found.to_csv() if isinstance(found, pd.DataFrame) else str(found)]
        except Exception as error:
            while error is not None:
                parts += [str(error), repr(error), str(vars(error))]
                error = error.__cause__ or error.__context__
    parts += [file.read_bytes().decode("latin-1") for file in tmp_path.iterdir()]
    return "\n".join([*parts, caplog.text])


ECHOES = {
    "as it is": lambda key: key,
    "in JSON": lambda key: json.dumps({"error": {"message": f"wrong key {key}"}}),
    "with escapes": lambda key: "".join(f"\\u{ord(c):04X}" if c in "+&<>" else "\\/" if c == "/" else c for c in key),
    "in a URL": lambda key: key.replace("/", "%2f").replace("+", "%2B").replace("=", "%3D"),
    "in HTML": lambda key: key.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&#62;"),
    "in lower case": lambda key: key.lower(),
    "cut by the limit of messages": lambda key: "." * 190 + key,
    "many times": lambda key: key * 500,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "status", ["200 OK", "302 Found", "400 Bad Request", "401 Unauthorized", "429 Wait", "500 Oops"]
)
@pytest.mark.parametrize("echo", ECHOES)
def test_the_key_stays_secret_when_a_server_repeats_it(status, echo, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    body = ECHOES[echo](SECRET).encode()
    with serving(lambda *_: response(body, status=status)) as url, Endpoint(url, "tiny", api_key=SECRET) as model:
        found = outputs(model, questions(), tmp_path, caplog).lower()
    # of a reply that is no JSON nothing is shown
    assert "***" in found or status == "200 OK"
    # no part of the key that a reader could use
    assert SECRET[:6].lower() not in found
    assert SECRET[-6:].lower() not in found


@pytest.mark.parametrize("echo", ["as it is", "with escapes", "many times"])
def test_the_key_is_removed_from_replies_before_they_are_cached(echo, tmp_path, caplog):
    reply = "Yes. " + ECHOES[echo](SECRET)
    with serving(lambda *_: chat(reply)) as url, Endpoint(url, "tiny", api_key=SECRET) as model:
        found = outputs(model, questions(), tmp_path, caplog)
        assert quick(model, cache=tmp_path / "replies.sqlite")["reply"][0].startswith("Yes. ***")
    assert SECRET[:6] not in found


def test_the_key_is_removed_from_the_name():
    with Endpoint("http://127.0.0.1/v1", "tiny", api_key=SECRET, options={"user": SECRET}) as model:
        assert SECRET not in repr(model) + model.name


def test_a_placeholder_key_does_not_change_replies(tmp_path):
    with serving(lambda *_: chat("No, none.")) as url, Endpoint(url, "tiny", api_key="no") as model:
        assert quick(model)["reply"].tolist() == ["No, none."]


@pytest.mark.slow
def test_the_key_stays_secret_when_a_connection_breaks(tmp_path, caplog):
    for head in (b"HTTP/1.1 200 OK\r\n" + SECRET.encode() + b"\r\n\r\n", SECRET.encode() + b"\r\n\r\n", b""):
        with serving(lambda *_, head=head: head) as url, Endpoint(url, "tiny", api_key=SECRET) as model:
            found = outputs(model, questions(), tmp_path, caplog)
        assert "broken connection" in found
        assert SECRET[:6] not in found


def test_keys_are_stripped_and_sent():
    seen = []

    def act(_, request):
        seen.append(request)
        return chat("yes")

    with serving(act) as url, Endpoint(url, "tiny", api_key=f" {SECRET}\n") as model:
        assert quick(model)["answer"].all()
    assert f"Bearer {SECRET}\r\n".encode() in seen[0]


@pytest.mark.parametrize(
    "extra", ["\n", " ", "\r\nX-Evil: 1", "\x00", "\t", "é", "\u200b", "\ud800", "\x7f", '"', "'", "\\"]
)
def test_keys_that_cannot_be_sent_are_refused_without_showing_them(extra):
    with pytest.raises(ValueError, match="api_key holds white space, quotation marks") as caught:
        Endpoint("http://127.0.0.1/v1", "tiny", api_key=f"sk-secret{extra}rest")
    assert "secret" not in repr(caught.value)
    assert caught.value.__context__ is None


def test_other_keys_are_refused_without_showing_them():
    with pytest.raises(TypeError, match="api_key must be text, found an object of type bytes") as caught:
        Endpoint("http://127.0.0.1/v1", "tiny", api_key=b"sk-secret")
    assert "secret" not in str(caught.value)
    with pytest.raises(ValueError, match="api_key is empty"):
        Endpoint("http://127.0.0.1/v1", "tiny", api_key=" \n")


@pytest.mark.parametrize(
    "url",
    [
        "http://user:PASSW@127.0.0.1/v1",
        "https://PASSW@127.0.0.1",
        "user:PASSW@127.0.0.1/v1",
        "ftp://user:PASSW@127.0.0.1/v1",
        "http://user:PASSW/more@127.0.0.1/v1",
        "http://user:PASSW\n@127.0.0.1/v1",
        "http://user:99999PASSW@[::1/v1",
        "http://127.0.0.1/v1?api_key=PASSW",
        "http://127.0.0.1/v1#PASSW",
    ],
)
def test_addresses_with_secrets_are_refused_without_showing_them(url):
    with pytest.raises(ValueError, match="url") as caught:
        Endpoint(url, "tiny")
    assert "PASSW" not in repr(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "http://",
        "http:///v1",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:0",
        "http://h:x",
        "http://a b",
        "http://a\u200b",
        "http://\ud800",
    ],
)
def test_invalid_addresses_are_refused(url):
    with pytest.raises(ValueError, match="url"):
        Endpoint(url, "tiny")


def test_redirects_are_not_followed():
    seen = []

    def act(_, request):
        seen.append(request)
        return response(b"", "Location: /elsewhere", status="307 Temporary Redirect")

    refused = pytest.warns(UserWarning, match="status 307")
    with serving(act) as url, Endpoint(url, "tiny", api_key=SECRET) as model, refused:
        quick(model)
    assert len(seen) == 1


def test_settings_must_be_json():
    for options in ({"x": float("nan")}, {"x": object()}):
        with pytest.raises(ValueError, match="must be valid JSON"):
            Endpoint("http://127.0.0.1/v1", "tiny", options=options)


def test_lone_surrogates_in_prompts_are_replaced():
    seen = []

    def act(_, request):
        seen.append(json.loads(request.split(b"\r\n\r\n", 1)[1]))
        return chat("yes")

    with serving(act) as url, Endpoint(url, "tiny", system="\udfff") as model:
        table = questions().astype({"prompt": object}).assign(prompt=pd.Series(["a\ud800é"], dtype=object))
        assert quick(model, table)["answer"].all()
    assert [message["content"] for message in seen[0]["messages"]] == ["\ufffd", "a\ufffdé"]


def test_a_closed_endpoint_is_not_called():
    with serving(lambda *_: chat("yes")) as url:
        model = Endpoint(url, "tiny")
        assert model("x").text == "yes"
        model.close()
        model.close()
        with pytest.raises(RuntimeError, match="closed"):
            model("x")
        unused = Endpoint(url, "tiny")
        unused.close()
        with pytest.raises(RuntimeError, match="closed"):
            unused("x")


@pytest.mark.slow
def test_a_script_ends_though_its_endpoints_are_not_closed():
    script = """
        import pandas as pd
        from causaleval_pd.reasoning import Endpoint, ask
        asked = pd.DataFrame({"question": [1], "prompt": ["Is it?"]})
        never_called = Endpoint("http://127.0.0.1:1/v1", "tiny")
        for _ in range(2):  # the first is dropped
            model = Endpoint("http://127.0.0.1:1/v1", "tiny")
            print(ask(asked, model, key=["question"], retries=0)["outcome"].tolist(), flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert found.stdout == "['failed']\n" * 2
    assert "Exception ignored" not in found.stderr and "Task was destroyed" not in found.stderr


def test_an_endpoint_is_not_pickled_with_its_key():
    with Endpoint("http://127.0.0.1/v1", "tiny", api_key=SECRET) as model, pytest.raises(TypeError):
        pickle.dumps(model)


@pytest.mark.slow
def test_the_time_to_remove_a_key_does_not_grow_with_its_length():
    """A server may repeat all of the key but its end; the forms of each character must not be tried in combinations."""
    seconds = []
    for length in (8, 64):
        key = "&" * length + "x"
        body = response(b"&" * 2**18, status="400 Bad Request")
        with serving(lambda *_, body=body: body) as url, Endpoint(url, "tiny", api_key=key, timeout=30) as model:
            start = time.process_time()
            assert "***" not in quick(model)["error"][0]
            seconds.append(time.process_time() - start)
    # 8 times as long a key takes at most 8 times as long, where two forms a character took 2**56 times
    assert seconds[1] < 40 * max(seconds[0], 0.05)


def completion(message, **choice):
    body = {"model": "tiny-2", "choices": [{"message": {"role": "assistant", **message}, **choice}]}
    return response(json.dumps(body | {"usage": {"prompt_tokens": 11, "completion_tokens": 7}}).encode())


OUTCOMES = {
    "refusal": (completion({"content": None, "refusal": "I would rather not."}, finish_reason="stop"), "refused"),
    "filter": (completion({"content": None}, finish_reason="content_filter"), "refused"),
    "filter with text": (completion({"content": "Answer: yes"}, finish_reason="content_filter"), "refused"),
    "plain 400": (response(b"this prompt is not allowed", status="400 Bad Request"), "refused"),
    "plain 413": (response(b"too large", status="413 Too Large"), "refused"),
    "truncated": (completion({"content": "Let me see.\nAnswer: yes"}, finish_reason="length"), "truncated"),
    "list of parts": (
        completion({"content": [{"type": "text", "text": "Two hold.\n"}, {"type": "text", "text": "Answer: yes"}]}),
        "answered",
    ),
    "odd bytes": (completion({"content": "\ud800\nAnswer: yes"}, finish_reason="stop"), "answered"),
    "prose": (completion({"content": "She may or may not."}, finish_reason="stop"), "unread"),
    "empty": (completion({"content": ""}, finish_reason="stop"), "unread"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", OUTCOMES)
def test_whatever_a_server_answers_is_the_outcome_of_its_question(kind, tmp_path):
    sent, outcome = OUTCOMES[kind]
    n = []

    def act(*_):
        n.append(1)
        return sent

    with serving(act) as url, Endpoint(url, "tiny") as model:
        # more in a row than `give_up_after`
        found = quick(model, questions(8), retries=3, give_up_after=2, cache=tmp_path / "replies.sqlite")
    assert len(n) == 8, "nothing is tried again"
    assert found["outcome"].value_counts().to_dict() == dict.fromkeys(OUTCOME_NAMES, 0) | {outcome: 8}
    assert found["answer"].eq(True).sum() == (8 if outcome == "answered" else 0)
    if "plain" not in kind:
        assert (found["model_version"] == "tiny-2").all()
        assert (found["input_tokens"] == 11).all()
        assert (found["output_tokens"] == 7).all()
        assert (found["seconds"] >= 0).all()
        with Endpoint(url, "tiny") as gone:  # the server has ended
            again = quick(gone, questions(8), cache=tmp_path / "replies.sqlite")
        pd.testing.assert_frame_equal(again, found)


@pytest.mark.slow
def test_replies_of_a_real_language_model():
    """Replies of a small model are replayed: gibberish is no answer, and constant answers are no better than chance."""
    tasks = make_tasks("candy_party", [[2, 2]], n_samples=3, rng=1)
    asked = tasks.questionnaire().assign(prompt=lambda q: tasks.prompts(q))
    place = {prompt: row for row, prompt in enumerate(asked["prompt"])}
    stored = pd.read_csv(KNOWN / "language_model_replies.csv", keep_default_na=False)
    outcomes = {}
    for key, said in stored.groupby(["model", "temperature"]):
        said = asked[["sample", "question"]].merge(said, how="left", validate="1:1")

        def act(_, request, said=said):
            row = place[json.loads(request.partition(b"\r\n\r\n")[2])["messages"][-1]["content"]]
            content = {"content": said["reply"][row]}
            return completion(content, finish_reason=said["finish_reason"][row])

        with serving(act) as url, Endpoint(url, "textgenrnn", temperature=key[1]) as model:
            found = ask(asked, model)
        outcomes[key] = found["outcome"].value_counts().loc[["answered", "unread", "truncated"]].tolist()
        assert found["reply"].tolist() == said["reply"].tolist()
        assert parse_answers(found["reply"], how="prose").isna().all() == (key[0] == "free")
        if key[0] == "choice":
            assert answer_scores(found)["p_value"].eq(1).all()
    assert outcomes == {("choice", 0.0): [24, 0, 0], ("free", 1.0): [0, 16, 8]}


NO_COMPLETIONS = {
    "error": ({"error": {"message": f"{'.' * 60} {SECRET}", "code": 429}}, "it has no choices, but the error .*429"),
    "no choices": ({"choices": []}, "it has no choices"),
    "choices by number": ({"choices": {"0": {"message": {"content": "Answer: yes"}}}}, "it has no choices"),
    "list": ([{"content": "Answer: yes"}], "it has no choices"),
    "tool": (
        {"choices": [{"message": {"content": None}, "finish_reason": "tool_calls"}]},
        "it has no text, and ends with 'tool_calls'",
    ),
    "number": ({"choices": [{"message": {"content": 1}}]}, "it has no text"),
    "parts": ({"choices": [{"message": {"content": [{"type": "text"}]}}]}, "'text'"),
}


@pytest.mark.parametrize("kind", NO_COMPLETIONS)
def test_what_is_no_completion_is_tried_again_and_described(kind):
    body, message = NO_COMPLETIONS[kind]
    n = []

    def act(*_):
        n.append(1)
        return response(json.dumps(body).encode())

    with serving(act) as url, Endpoint(url, "tiny", api_key=SECRET) as model:
        found = quick(model, retries=1)
    assert len(n) == 2
    assert found["outcome"].tolist() == ["failed"]
    assert re.search(f"not a chat completion .*{message}", found["error"][0])
    assert SECRET[:6] not in found["error"][0]


OUTCOME_NAMES = ("answered", "unread", "refused", "truncated", "failed", "not_asked")


def test_the_cache_distinguishes_servers(tmp_path):
    cache = tmp_path / "replies.sqlite"
    for reply in ("Answer: yes", "Answer: no"):
        with serving(lambda *_, reply=reply: chat(reply)) as url, Endpoint(url, "tiny") as model:
            assert quick(model, cache=cache)["reply"].tolist() == [reply]


def test_nothing_is_sent_that_was_not_given(monkeypatch):
    for name in ("API_KEY", "ORG_ID", "PROJECT_ID", "ADMIN_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", f"{SECRET}-{name}")
    seen = []

    def act(_, request):
        seen.append(request.decode())
        return chat("yes")

    with serving(act) as url, Endpoint(url, "tiny") as model:
        quick(model)
    assert SECRET not in seen[0]
    assert "authorization" not in seen[0].lower()


def test_keys_in_the_environment_are_removed_from_what_a_function_of_yours_returns(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("SOME_API_KEY", SECRET)

    def echoing(prompt):
        if prompt.endswith("0"):
            return f"The key is {SECRET}.\nAnswer: yes"
        raise RuntimeError(f"bad key {SECRET} for Bearer abc.def at http://user:pass@host, or sk-proj-123456789abc")

    echoing.name = "echoing"
    found = quick(echoing, questions(2), cache=tmp_path / "replies.sqlite")
    assert found["outcome"].tolist() == ["answered", "failed"]
    everything = found.to_csv() + caplog.text
    everything += "".join(file.read_bytes().decode("latin-1") for file in tmp_path.iterdir())
    for secret in (SECRET, "abc.def", "user:pass", "sk-proj"):
        assert secret not in everything
    assert everything.count("***") >= 5


@pytest.mark.parametrize("token", ["sk-", "bearer ", "://a:", "://a@", "Bearer\n", "a" * 7 + "-"])
def test_the_time_to_redact_an_error_grows_with_its_length(token):
    def failing(prompt):
        raise RuntimeError(token * (n // len(token)))

    seconds = {}
    for n in (2**16, 2**18):
        start = time.process_time()
        quick(failing)
        seconds[n] = time.process_time() - start
    assert seconds[2**18] < 9 * max(seconds[2**16], 0.02)
