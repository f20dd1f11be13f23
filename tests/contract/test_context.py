"""The extra inputs of rows, and what is computed from them once."""

import pickle

import numpy as np

from causaleval_pd.contract.context import Context, Memory


def test_rows_keep_their_inputs_and_share_what_was_computed():
    context = Context(({"n": 10}, {"n": 20, "data": "b"}), np.array([0, 1, 0]), np.array([5, 7, 5]))
    part = context.take(np.array([2, 1]))
    assert part.codes.tolist() == [0, 1] and part.data_sets.tolist() == [5, 7]
    assert part.values is context.values and part.memory is context.memory
    assert context.gives(["data"]) and context.gives(["estimator", "n"]) and not context.gives(["estimator"])


def test_a_memory_computes_once_and_its_copy_begins_empty():
    memory, calls = Memory(), []

    def compute():
        calls.append(1)
        return len(calls)

    assert [memory.remember("key", compute), memory.remember("key", compute)] == [1, 1]
    assert pickle.loads(pickle.dumps(memory)).remember("key", compute) == 2
