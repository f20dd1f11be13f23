"""Ask a language model: from questions to a decision.

    python examples/12_reasoning_real_model.py [MODEL]

MODEL is a model as Inspect names it, such as openai/gpt-4o-mini, and needs the extra `llm`; Inspect reads the key from
the environment and keeps its logs in reasoning_real_model/. Without it, a function in this script simulates a model
that sometimes errs, evades or fails.
"""

import sys
from pathlib import Path

import matplotlib
import pandas as pd

from causaleval_pd import reasoning as cr

matplotlib.use("Agg")
pd.set_option("display.width", 160, "display.max_columns", 20, "display.precision", 3)
out = Path("reasoning_real_model")
out.mkdir(exist_ok=True)

# cr.required_samples(0.2, 0.25) == 246: samples that estimate a PNS of .2 within 25 %.
tasks = cr.make_tasks("candy_party", [[3, 3]], n_samples=250, min_pns=0.2, rng=11)
questions = tasks.questionnaire()
questions["prompt"] = tasks.prompts(questions, "last_line")
truth = dict(zip(questions["prompt"], questions["truth"], strict=True))


def simulated(prompt):
    number = sum(map(ord, prompt))
    if number % 40 == 0:
        raise TimeoutError("no reply within a minute")
    if number % 50 == 1:
        return "I cannot tell."
    right = truth[prompt] if number % 5 else number % 2 == 0
    return f"Let me think.\n\n**Answer: {'yes' if right else 'no'}**"


if len(sys.argv) > 1:
    import inspect_ai

    model = sys.argv[1]
    logs = inspect_ai.eval(cr.inspect_task(questions, temperature=0.0), model=model, log_dir=str(out))
    answered = cr.read_inspect(logs, questions)
else:
    model = "simulated"
    answered = cr.ask(questions, simulated)

print(answered["outcome"].value_counts().to_string(), end="\n\n")
both = pd.concat([answered.assign(model=model), cr.reasoners.baselines(questions, tasks, names=["random"], rng=11)])
print(cr.answer_scores(both, by="model")[["model", "world", "n", "n_failed", "accuracy", "ci_low", "ci_high"]])
table = cr.quantities(both, by="model", worlds=tasks, which=["pns"])
columns = ["model", "relation", "cause", "effect", "path", "truth", "estimate", "missing_low", "missing_high"]
print("Truths are those of the samples that a model answered, so they differ a little between models:")
print(cr.judge(table, delta=0.25)[[*columns, "decision"]].to_string(index=False))
print(cr.taxonomy(table, by="model", delta=0.25).to_string(index=False))
cr.plot.reliability(table, delta=0.25).savefig(out / "reliability.png", dpi=150, bbox_inches="tight")
