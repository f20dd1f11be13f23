"""Tasks on disk: what was written is read back, in chunks, and nothing half done is left."""

from __future__ import annotations

import hashlib

import pandas as pd
import pyarrow.parquet as pq
import pytest

import causaleval_pd as ce
from causaleval_pd.reasoning import make_tasks, read_tasks, write_tasks
from causaleval_pd.reasoning.tasks import tasks as tasks_module

TABLES = ("worlds", "nodes", "edges", "quantities", "questions", "contexts", "truths")


@pytest.fixture
def tasks():
    return make_tasks(["flu_vaccine", "clinical_notes"], [[3, 3], [4, 2]], n_samples=30, replicates=2, rng=1)


@pytest.mark.slow
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


@pytest.mark.slow
def test_same_seed_same_bytes(tasks, tmp_path):
    for name in ("a", "b"):
        write_tasks(tasks, tmp_path / name)
    for table in TABLES:
        first, second = (hashlib.sha256((tmp_path / n / f"{table}.parquet").read_bytes()).digest() for n in ("a", "b"))
        assert first == second


@pytest.mark.slow
def test_large_tables_are_streamed(tasks, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tasks_module, "CHUNK", 10)
    with ce.set_options(progress=True):
        path = write_tasks(tasks, tmp_path / "tasks")
    assert pq.ParquetFile(path / "contexts.parquet").num_row_groups == 4 * 6
    assert pq.ParquetFile(path / "truths.parquet").num_row_groups == 4 * 3
    assert "240/240" in capsys.readouterr().err


@pytest.mark.slow
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


@pytest.mark.slow
def test_only_tasks_are_replaced(tasks, tmp_path):
    """What stands beside the folder or in it, and is no table of tasks, stays."""
    part = tmp_path / "data.part"
    part.mkdir()
    (part / "thesis.txt").write_text("all of it", encoding="utf-8")
    path = write_tasks(tasks, tmp_path / "data")
    (path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError, match="data holds 'notes.txt'; overwrite=True replaces only what write_tasks"):
        write_tasks(tasks, path, overwrite=True)
    for other in (part, part / "thesis.txt"):
        with pytest.raises(FileExistsError, match="replaces only what write_tasks wrote"):
            write_tasks(tasks, other, overwrite=True)
    (path / "notes.txt").unlink()
    (path / "worlds.parquet").unlink()
    with pytest.raises(FileExistsError, match="is not a complete folder of tasks"):
        write_tasks(tasks, path, overwrite=True)
    (tmp_path / "link").symlink_to(part)
    for overwrite in (True, False):
        with pytest.raises(ValueError, match="link is a symbolic link"):
            write_tasks(tasks, tmp_path / "link", overwrite=overwrite)
    assert (part / "thesis.txt").read_text(encoding="utf-8") == "all of it"
    (tmp_path / "empty").mkdir()
    assert len(read_tasks(write_tasks(tasks, tmp_path / "empty", overwrite=True)).worlds) == 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data", "data.part", "empty", "link"]


@pytest.mark.slow
def test_a_folder_that_another_writer_made_meanwhile_stays(tasks, tmp_path, monkeypatch):
    first = make_tasks("candy_party", [[3]], n_samples=3, rng=2)
    whole = tasks_module.Chunk.table

    def table(self):
        if not (tmp_path / "tasks").exists():
            with monkeypatch.context() as patch:
                patch.setattr(tasks_module.Chunk, "table", whole)
                write_tasks(first, tmp_path / "tasks")
        return whole(self)

    with monkeypatch.context() as patch, pytest.raises(FileExistsError, match="tasks exists"):
        patch.setattr(tasks_module.Chunk, "table", table)
        write_tasks(tasks, tmp_path / "tasks")
    assert len(read_tasks(tmp_path / "tasks").worlds) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["tasks"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_damaged_tables_are_named(name, tasks, tmp_path):
    path = write_tasks(tasks, tmp_path / "tasks")
    file = path / f"{name}.parquet"
    whole = file.read_bytes()
    for damaged in (b"", b"hello world", whole[:-1], whole[: len(whole) // 2], whole[:4] + bytes(40) + whole[44:]):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=rf"{name}\.parquet is not a table of tasks, or is damaged"):
            read_tasks(path)
    pd.DataFrame({"a": [1]}).to_parquet(file)
    with pytest.raises(ValueError, match=rf"{name}\.parquet lacks the columns"):
        read_tasks(path)
