"""A proof is written into the folder of a run so that no kill leaves a file there that nothing covers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.manifest.log_disk import write_proof


def test_a_proof_replaces_the_old_one(tmp_path: Path) -> None:
    """The folder holds the new bytes under the name, and nothing else."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.tlog-proof").write_bytes(b"old")
    write_proof(folder, "run.tlog-proof", b"new")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"run.tlog-proof": b"new"}
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("at", [1, 2], ids=["while it is written", "before it is put in place"])
def test_nothing_half_written_lies_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """Whichever rename never happens, the folder holds the old proof alone."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.tlog-proof").write_bytes(b"old")
    calls = []
    replace = Path.replace

    def dying(self: Path, target: Path) -> Path:
        calls.append(self)
        assert self.parent == tmp_path, "what is half written lies beside the folder"
        if len(calls) == at:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", dying)
    with pytest.raises(InputError, match="cannot be written"):
        write_proof(folder, "run.tlog-proof", b"new")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"run.tlog-proof": b"old"}
