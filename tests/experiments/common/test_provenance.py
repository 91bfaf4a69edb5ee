"""With what a result was made."""

import subprocess

from experiments.common import provenance


def test_code_installed_below_another_repository_has_no_commit(tmp_path, monkeypatch):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "--message", "mine")
    installed = tmp_path / "lib" / "site-packages"
    installed.mkdir(parents=True)
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert provenance.commit() != "unknown"
    monkeypatch.setattr(provenance, "ROOT", installed)
    assert provenance.commit() == "unknown"
