"""Errors that a user can act on. Everything else is a bug and keeps its traceback."""

from __future__ import annotations

from pathlib import Path


class AnyMoCapError(Exception):
    """A failure that is explained in one sentence, with the file it concerns and what to do about it.

    Args:
        message: what is wrong, in one sentence.
        file: the file that is wrong, when there is one.
        key: the key, array or setting within it.
        hint: the remedy.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        file: Path | str | None = None,
        key: str | None = None,
        hint: str = "",
    ) -> None:
        self.message = message
        self.file = str(file) if file is not None else None
        self.key = key
        self.hint = hint
        super().__init__(self.__str__())

    def __str__(self) -> str:
        where = self.file or ""
        if self.key:
            where = f"{where}: {self.key}" if where else self.key
        text = f"{where}: {self.message}" if where else self.message
        return f"{text} {self.hint}" if self.hint else text


class BadInputError(AnyMoCapError):
    """The input cannot be used as it is; the command line exits with 2."""

    exit_code = 2


class CancelledError(AnyMoCapError):
    """The user stopped the work; what was finished stays and the stage resumes."""

    def __init__(self, message: str = "Cancelled.", hint: str = "Run the stage again to resume.") -> None:
        super().__init__(message, hint=hint)
