"""Tasks on disk: what was written is read back, in chunks, and nothing half done is left."""

from __future__ import annotations

import hashlib

import pandas as pd
import pyarrow.parquet as pq
import pytest

from causaleval_pd.reasoning import make_tasks, read_tasks, write_tasks
from causaleval_pd.reasoning.tasks import tasks as tasks_module

TABLES = ("worlds", "nodes", "edges", "quantities", "questions", "contexts", "truths")


@pytest.fixture
def tasks():
    return make_tasks(["flu_vaccine", "clinical_notes"], [[3, 3], [4, 2]], n_samples=30, replicates=2, rng=1)


def test_all_tables_come_back(tasks, tmp_path):
    stored = read_tasks(write_tasks(tasks, tmp_path / "tasks"))
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(stored, name), getattr(tasks, name))
    pd.testing.assert_frame_equal(stored.questionnaire(), tasks.questionnaire())
    pd.testing.assert_series_equal(stored.prompts(), tasks.prompts())
    for task in tasks.tasks:
        world = stored.world(task.number)
        assert world == task.world
        assert world.nodes == task.world.nodes


def test_same_seed_same_bytes(tasks, tmp_path):
    for name in ("a", "b"):
        write_tasks(tasks, tmp_path / name)
    for table in TABLES:
        first, second = (hashlib.sha256((tmp_path / n / f"{table}.parquet").read_bytes()).digest() for n in ("a", "b"))
        assert first == second


def test_large_tables_are_streamed(tasks, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tasks_module, "CHUNK", 10)
    path = write_tasks(tasks, tmp_path / "tasks", progress=True)
    assert pq.ParquetFile(path / "contexts.parquet").num_row_groups == 4 * 6
    assert pq.ParquetFile(path / "truths.parquet").num_row_groups == 4 * 3
    assert "240/240" in capsys.readouterr().err


def test_nothing_is_overwritten_unasked_or_left_half_done(tasks, tmp_path, monkeypatch):
    path = write_tasks(tasks, tmp_path / "tasks")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        write_tasks(tasks, path)
    other = make_tasks("candy_party", [[3]], n_samples=3, rng=2)

    def fail(self):
        raise OSError("disk full")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="disk full"):
        patch.setattr(tasks_module.Chunk, "table", fail)
        write_tasks(other, path, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["tasks"]
    assert len(read_tasks(path).worlds) == 4
    assert len(read_tasks(write_tasks(other, path, overwrite=True)).worlds) == 1


def test_a_folder_without_tasks_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing files: worlds\.parquet"):
        read_tasks(tmp_path)
