"""Runs in a Blender of its own: zips that are not for it, and a repository on disk from which it installs and updates.

refuse_and_update.py REFUSED.zip,REFUSED.zip,… REPOSITORY NEWER RESULT.json
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import bpy


def installed_version(repository: Any) -> str:
    """Version of the add-on in a repository's folder, empty when it is not there."""
    manifest = Path(repository.directory) / "anymocap" / "blender_manifest.toml"
    lines = manifest.read_text(encoding="utf-8").splitlines() if manifest.exists() else []
    return next((line.split('"')[1] for line in lines if line.startswith("version")), "")


def offered_version(index: int) -> str:
    """The version that the repository offers after the last look at it."""
    from bl_pkg import bl_extension_ops, repo_cache_store_ensure

    store = repo_cache_store_ensure()
    directories = [repo.directory for repo in bl_extension_ops.extension_repos_read(use_active_only=False)]
    listed = store.refresh_remote_from_directory(directory=directories[index], error_fn=print, force=True)
    return listed["anymocap"].version if listed else ""


def main(refused: list[str], repository: Path, newer: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"online": bpy.app.online_access}
    repos = bpy.context.preferences.extensions.repos
    for archive in refused:  # what it says goes to standard output
        bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
    found["not_installed"] = installed_version(next(repo for repo in repos if repo.module == "user_default"))
    for other in [repo for repo in repos if repo.use_remote_url]:
        repos.remove(other)  # nothing here asks the network
    repo = repos.new(name="AnyMoCap", module="anymocap_test", remote_url=(repository / "index.json").as_uri())
    repo.use_remote_url = True
    index = len(repos) - 1
    for state in ("first", "second"):
        bpy.ops.extensions.repo_sync(repo_index=index)
        found[f"{state}_offered"] = offered_version(index)
        found[f"{state}_offline"] = bpy.ops.extensions.package_install.poll()
        bpy.context.preferences.system.use_online_access = True
        if state == "first":
            bpy.ops.extensions.package_install(repo_index=index, pkg_id="anymocap", enable_on_install=True)
        else:
            found["before_update"] = installed_version(repo)
            bpy.ops.extensions.package_upgrade_all()
        found[f"{state}_installed"] = installed_version(repo)
        found[f"{state}_enabled"] = "bl_ext.anymocap_test.anymocap" in bpy.context.preferences.addons
        bpy.context.preferences.system.use_online_access = False
        shutil.rmtree(repository)
        shutil.copytree(newer, repository)
    return found


if __name__ == "__main__":
    refused, repository, newer, result = sys.argv[-4:]
    found = main(refused.split(","), Path(repository), Path(newer))
    Path(result).write_text(json.dumps(found), encoding="utf-8")
