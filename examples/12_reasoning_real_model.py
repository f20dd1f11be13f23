"""Ask a language model: from questions to a decision. Needs the extra `llm`.

    python examples/12_reasoning_real_model.py http://127.0.0.1:8000/v1 MODEL

The address is that of any OpenAI-compatible server; the key is read from the environment variable LLM_API_KEY. Without
arguments, a small server in this script simulates a model that sometimes errs, evades or refuses calls. Replies are
stored in reasoning_real_model/replies.sqlite: an interrupted run continues where it stopped.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import matplotlib
import pandas as pd

from causaleval_pd import reasoning as cr

matplotlib.use("Agg")
if find_spec("openai") is None:
    raise SystemExit("this example needs openai: pip install 'causaleval_pd[llm]'")
pd.set_option("display.width", 160, "display.max_columns", 20, "display.precision", 3)
out = Path("reasoning_real_model")
out.mkdir(exist_ok=True)

# cr.required_samples(0.2, 0.25) == 246: samples that estimate a PNS of .2 within 25 %.
tasks = cr.make_tasks("candy_party", [[3, 3]], n_samples=250, min_pns=0.2, rng=11)
questions = tasks.questionnaire()
questions["prompt"] = tasks.prompts(questions, "last_line")
truth = dict(zip(questions["prompt"], questions["truth"], strict=True))


class Played(BaseHTTPRequestHandler):
    calls = 0

    def do_POST(self):
        prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        Played.calls += 1
        number = sum(map(ord, prompt))
        right = truth[prompt] if number % 5 else number % 2 == 0
        said = "I cannot tell." if number % 50 == 0 else f"Let me think.\n\n**Answer: {'yes' if right else 'no'}**"
        body = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
        self.send_response(429 if Played.calls % 40 == 0 else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


with ThreadingHTTPServer(("127.0.0.1", 0), Played) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    played = (f"http://127.0.0.1:{server.server_address[1]}/v1", "played")
    url, model = sys.argv[1:3] if len(sys.argv) > 2 else played
    with cr.Endpoint(url, model, api_key=os.environ.get("LLM_API_KEY"), temperature=0.0) as endpoint:
        answered = cr.ask(questions, endpoint, cache=out / "replies.sqlite", workers=8, backoff=0.1)
    server.shutdown()

print(answered["outcome"].value_counts().to_string(), end="\n\n")
both = pd.concat([answered.assign(model=model), cr.reasoners.baselines(questions, tasks, names=["random"], rng=11)])
print(
    cr.answer_scores(both, by="model")[["model", "world", "n", "n_failed", "accuracy", "ci_low", "ci_high", "p_value"]]
)
table = cr.quantities(both, by="model", worlds=tasks, which=["pns"])
columns = ["model", "relation", "cause", "effect", "path", "truth", "estimate", "missing_low", "missing_high"]
print("Truths are those of the samples that a model answered, so they differ a little between models:")
print(cr.judge(table, delta=0.25)[[*columns, "decision"]].to_string(index=False))
print(cr.taxonomy(table, by="model", delta=0.25).to_string(index=False))
cr.plot.reliability(table, delta=0.25).savefig(out / "reliability.png", dpi=150, bbox_inches="tight")
