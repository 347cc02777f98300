"""The key of the fal account: from the environment, else from a file that only its owner can read.

The file lies in the extension's user folder. A worker is told the folder by an environment variable, never the key: a
process's environment and arguments can be listed by others, and what is started by a worker inherits them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from ..atomic import replacing
from ..errors import AnyMoCapError, BadInputError

KEY_VARIABLE = "FAL_KEY"
USER_FOLDER_VARIABLE = "ANYMOCAP_USER_FOLDER"
_FILE = "fal_key"
KeySource = Literal["environment", "stored", "none"]


def key_file(user_folder: Path) -> Path:
    """Where the key of an extension's user folder lies."""
    return user_folder / _FILE


def _named_folder() -> Path | None:
    named = os.environ.get(USER_FOLDER_VARIABLE, "")
    return Path(named) if named else None


def fal_key(user_folder: Path | None = None) -> str | None:
    """The key, or None when there is none.

    Args:
        user_folder: the extension's user folder; None = the one that $ANYMOCAP_USER_FOLDER names.

    Raises:
        BadInputError: what stands in the environment is no key; the message does not repeat it.
        AnyMoCapError: there is a key file and it cannot be read.
    """
    given = os.environ.get(KEY_VARIABLE, "").strip()
    if given and not _may_be_key(given):  # a library would quote it when it refuses it
        raise BadInputError(
            "This is no fal key.",
            key=KEY_VARIABLE,
            hint="Set it to the key from the account's page: one word without spaces or line breaks.",
        )
    return given or _stored(user_folder or _named_folder())


def _may_be_key(text: str) -> bool:
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def _stored(user_folder: Path | None) -> str | None:
    if user_folder is None:
        return None
    file = key_file(user_folder)
    try:
        key = file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        # `from None`: the decoder's message would quote the file's bytes
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise AnyMoCapError(
            f"The fal key could not be read: {reason}.", file=file, hint="Enter it again in the preferences."
        ) from None
    if key and not _may_be_key(key):
        raise AnyMoCapError("This is no fal key.", file=file, hint="Enter it again in the preferences.")
    return key or None


def key_source(user_folder: Path | None = None) -> KeySource:
    """Where the key that is used comes from; never the key itself, and no file is read."""
    if os.environ.get(KEY_VARIABLE, "").strip():
        return "environment"
    folder = user_folder or _named_folder()
    return "stored" if folder is not None and os.access(key_file(folder), os.F_OK) else "none"


def store_key(user_folder: Path, key: str) -> None:
    """Keep `key`, readable by its owner only (on Windows the user folder's own permissions see to that).

    Raises:
        BadInputError: it is no key; the message does not repeat it.
        AnyMoCapError: the file cannot be written.
    """
    key = key.strip()
    if not _may_be_key(key):
        raise BadInputError("This is no fal key.", hint="Copy it from the account's page: one word without spaces.")
    with replacing(key_file(user_folder)) as temporary:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as handle:
            handle.write(key)


def forget_key(user_folder: Path) -> None:
    """Remove the stored key."""
    key_file(user_folder).unlink(missing_ok=True)
