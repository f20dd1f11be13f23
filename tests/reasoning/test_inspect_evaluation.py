"""Questions through Inspect, end to end: a scripted model, and a server on this machine that misbehaves."""

import gc
import json
import threading
import warnings
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest
import reader

from causaleval_pd.reasoning import answer_scores, inspect_task, make_tasks, quantities, read_inspect

# Inspect leaves streams to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def questions():
    tasks = make_tasks("candy_party", [[2, 2]], n_samples=3, rng=1)
    return tasks.questionnaire().assign(prompt=lambda q: tasks.prompts(q, None))


def evaluate(task, model, tmp_path, **options):
    """Run Inspect without its display; its own warnings are not ours, those of streams it leaves unclosed either."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import inspect_ai

        found = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", **options)
        gc.collect()
    return found


@contextmanager
def serving(behave):
    """Serve `behave(prompt, times)`: (status, message, finish reason)."""
    seen, lock = {}, threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = request["messages"][-1]["content"]
            with lock:
                seen[prompt] = seen.get(prompt, 0) + 1
                times = seen[prompt]
            status, message, reason = behave(prompt, times)
            choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
            body = {"id": "x", "object": "chat.completion", "created": 1, "model": "tiny-2", "choices": [choice]}
            body["usage"] = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
            if status != 200:
                body = {"error": {"message": message["content"], "type": "invalid_request_error"}}
            sent = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Length": len(sent), "Content-Type": "application/json"}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.slow
def test_a_server_through_inspect(questions, tmp_path, monkeypatch):
    """The server reads the English text, so that it is always right; some of its replies are faults."""
    prompts = questions["prompt"].drop_duplicates().tolist()

    def behave(prompt, times):
        right = "yes" if reader.answer(prompt) else "no"
        place = prompts.index(prompt)
        if place == 2:
            return 200, {"content": "I would rather not."}, "content_filter"
        if place == 3:
            return 200, {"content": f"Answer: {right}"}, "length"
        if place == 4:
            return 400, {"content": "not allowed"}, None
        if place == 5:
            return 200, {"content": "Perhaps."}, "stop"
        return 200, {"content": f"So it is.\nAnswer: {right}"}, "stop"

    with serving(behave) as url:
        monkeypatch.setenv("LOCAL_API_KEY", "none")
        monkeypatch.setenv("LOCAL_BASE_URL", url)
        task = inspect_task(questions, epochs=2, temperature=0.0, max_retries=0)
        [log] = evaluate(task, "openai-api/local/tiny", tmp_path / "logs")
    assert log.status == "success"
    found = read_inspect(log, questions)
    assert len(found) == 2 * len(questions)
    outcomes = found.set_index(["epoch", "prompt"])["outcome"]
    for epoch in (1, 2):
        assert outcomes[epoch, prompts[2]] == "refused"
        assert outcomes[epoch, prompts[3]] == "truncated"
        assert outcomes[epoch, prompts[4]] in ("failed", "refused", "unread")
        assert outcomes[epoch, prompts[5]] == "unread"
    answered = found[found["outcome"] == "answered"]
    assert len(answered) == 2 * (len(questions) - 4)
    assert (answered["answer"] == answered["truth"]).all()
    assert (answered["model_version"] == "tiny-2").all()
    assert (answered["input_tokens"] == 11).all()
    assert (answered["output_tokens"] == 7).all()
    assert answered["finish_reason"].eq("stop").all()
    assert answered["seconds"].notna().all()
    assert found["asked_at"].notna().all()
    # epochs are replicates of a sample
    assert set(found["replicate"]) == {0, 1}
    scores = answer_scores(found, by="model")
    assert (scores["accuracy"] == 1).all()
    assert scores["n_failed"].sum() == 8
    assert len(quantities(found, by="model", which=["pns"])) == 3
    # the file holds the same
    pd.testing.assert_frame_equal(read_inspect(log.location, questions), found)


@pytest.mark.slow
def test_a_scripted_model_through_inspect(questions, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from inspect_ai.model import ModelOutput, ModelUsage, get_model

        said = ModelOutput.from_content("mockllm", "Yes, she does.")
        said.usage = ModelUsage(input_tokens=1, output_tokens=2)  # it would count by a vocabulary from the network
        outputs = [said.model_copy(deep=True) for _ in range(len(questions))]
        model = get_model("mockllm/model", custom_outputs=outputs)
    [log] = evaluate(inspect_task(questions), model, tmp_path)
    assert {score.value for sample in log.samples for score in sample.scores.values()} == {"N"}
    assert read_inspect([log], questions)["outcome"].eq("unread").all()
    again = read_inspect([log], questions, how=lambda text: text.startswith("Yes"))
    assert again["answer"].all()
    assert again["epoch"].eq(1).all()
    # what was not asked is an outcome too
    more = pd.concat([questions, questions.assign(sample=questions["sample"] + 99)], ignore_index=True)
    assert read_inspect(log, more)["outcome"].value_counts()["not_asked"] == len(questions)
    with pytest.raises(ValueError, match="is not among the questions"):
        read_inspect(log, questions.iloc[1:])
    with pytest.raises(ValueError, match="was asked with another prompt"):
        read_inspect(log, questions.assign(prompt=questions["prompt"] + " Answer."))
    with pytest.raises(ValueError, match="two replies have the key .*; pass one of the logs that hold them"):
        read_inspect([log, log], questions)
    damaged = tmp_path / "damaged.eval"
    damaged.write_bytes(b"no log")
    with pytest.raises(ValueError, match="not a log of Inspect, or is damaged"):
        read_inspect(damaged, questions)


@pytest.mark.slow
def test_what_is_no_log_is_refused(questions):
    with pytest.raises(TypeError, match="must be logs of Inspect or their paths, found int"):
        read_inspect([1], questions)
    with pytest.raises(ValueError, match="names no log"):
        read_inspect([], questions)
    with pytest.raises(ValueError, match="no column 'truth'"):
        inspect_task(questions.drop(columns="truth"))
    with pytest.raises(ValueError, match="column 'truth' must hold True, False or missing, found 'no'"):
        inspect_task(questions.assign(truth="no"))
