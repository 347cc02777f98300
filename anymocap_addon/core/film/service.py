"""Fal's queue through fal-client: upload, submit once, look, fetch, cancel. Every failure has a kind of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import fal_client.client as fal
import httpx

from ..errors import AnyMoCapError, BadInputError
from .fal_address import FalAddress, fal_address

_SUBMIT_TIMEOUT_S = 60.0
_POLL_TIMEOUT = httpx.Timeout(60.0, connect=20.0)
_MASK = "[key]"
_LONGEST_TEXT = 600
_MOST_PAGES = 20
_SHORTEST_HALF = 8  # characters; shorter ones would mask ordinary words


class NotSentError(Exception):
    """No connection came about: the request did not leave this machine."""


class RefusedError(Exception):
    """The service has read the request and did not take it."""

    def __init__(self, status: int, message: str, error_type: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.error_type, self.retry_after_s = status, message, error_type, retry_after_s


class FateUnknownError(Exception):
    """The request left, and no reply says whether it was taken."""


class UnansweredError(Exception):
    """No usable answer now; asking again costs nothing."""


class GoneError(Exception):
    """The service does not know the request or file (any more)."""


@dataclass(frozen=True)
class Accepted:
    """What a submit returns: the request's id and its three addresses, to be kept as they are."""

    request_id: str
    response_url: str
    status_url: str
    cancel_url: str


@dataclass(frozen=True)
class Look:
    """State of a request; `position` in the queue counts from 0."""

    state: Literal["queued", "running", "completed"]
    position: int = 0
    logs: tuple[str, ...] = ()
    error: str = ""
    error_type: str = ""


@dataclass
class FalService:
    """One account at fal. The key is in this object and in the headers of its requests, and in no text that it gives.

    Args:
        key: the account's key.
    """

    key: str = field(repr=False)
    address: FalAddress = field(default_factory=fal_address)

    def __post_init__(self) -> None:
        if self.address.queue:
            fal.QUEUE_URL_FORMAT = f"{self.address.queue}/"
            fal.REST_URL, fal.CDN_URL = self.address.rest, self.address.cdn
        self._client = fal.SyncClient(key=self.key)
        self._http: httpx.Client = self._client._client

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def masked(self, text: object) -> str:
        """A text from outside without the key or its halves, cut to a sensible length."""
        plain = self._without_key(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=str))
        return plain if len(plain) <= _LONGEST_TEXT else plain[:_LONGEST_TEXT] + "…"

    def shows_key(self, text: str) -> bool:
        """Whether the key or one of its halves stands in a text."""
        return self._without_key(text) != text

    def _without_key(self, text: str) -> str:
        for secret in (self.key, *(half for half in self.key.split(":") if len(half) >= _SHORTEST_HALF)):
            text = text.replace(secret, _MASK)
        return text

    def upload(self, file: Path) -> str:
        """Upload a file; returns its address.

        Raises:
            BadInputError: the key is refused. AnyMoCapError: the upload failed.
        """
        try:
            return str(self._client.upload_file(file))
        except (fal.FalClientHTTPError, httpx.HTTPStatusError) as error:
            self._check_key(error.response)
            message = self._told(error.response)[0]
        except (httpx.HTTPError, KeyError, ValueError) as error:
            message = self.masked(f"{type(error).__name__} {error}")
        # outside of the handler, so that no traceback repeats what came from there
        raise AnyMoCapError(
            f"The picture could not be uploaded: {message}.", file=file, hint="Nothing was paid; try again."
        )

    def submit(self, endpoint: str, arguments: dict[str, Any]) -> Accepted:
        """Send a request, once. fal-client's own submit repeats the POST when a reply is lost, which would pay twice.

        Raises:
            NotSentError, RefusedError: nothing was taken. FateUnknownError: it may have been.
            BadInputError: the key is refused; nothing was taken.
        """
        response, lost = None, ""
        try:
            response = self._http.post(
                fal.QUEUE_URL_FORMAT + endpoint, json=arguments, timeout=_SUBMIT_TIMEOUT_S, follow_redirects=False
            )
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            lost = f"{type(error).__name__}"
        except httpx.HTTPError as error:
            raise FateUnknownError(self.masked(f"no reply ({type(error).__name__})")) from None
        if response is None:
            raise NotSentError(lost)
        if response.status_code < 300:
            return self._accepted(response)
        message, error_type = self._told(response)
        # A gateway's 5xx, and a conflict or a timeout, may come after the request was taken.
        if response.status_code in (408, 409) or response.status_code >= 500 or response.status_code < 400:
            raise FateUnknownError(f"{response.status_code}: {message}")
        self._check_key(response)
        raise RefusedError(response.status_code, message, error_type, _retry_after(response))

    def _accepted(self, response: httpx.Response) -> Accepted:
        try:
            data = response.json()
            found = Accepted(*(str(data[name]) for name in Accepted.__dataclass_fields__))
        except (ValueError, KeyError, TypeError):
            raise FateUnknownError("the reply cannot be read") from None
        if not all(map(self.address.may_have_key, (found.response_url, found.status_url, found.cancel_url))):
            raise FateUnknownError("the reply names foreign addresses")
        return found

    def known(self, endpoint: str, request_id: str) -> Accepted:
        """A request that the artist found in the account."""
        handle = self._client.get_handle(endpoint, request_id)
        return Accepted(request_id, handle.response_url, handle.status_url, handle.cancel_url)

    def look(self, request: Accepted) -> Look:
        """How a request stands.

        Raises:
            UnansweredError, GoneError. BadInputError: the key is refused.
        """
        self._check_addresses(request)
        handle = fal.SyncRequestHandle(**vars(request), client=self._http)
        try:
            status = handle.status(with_logs=True)
        except (fal.FalClientHTTPError, httpx.HTTPStatusError) as error:
            response, why = error.response, ""
        except (httpx.HTTPError, KeyError, TypeError, ValueError) as error:
            response, why = None, type(error).__name__
        else:
            return self._look(status)
        if response is None:
            raise UnansweredError(why)
        self._check_key(response)
        if response.status_code in (404, 410):
            raise GoneError(self._told(response)[0])
        raise UnansweredError(f"{response.status_code}")

    def _look(self, status: Any) -> Look:
        if isinstance(status, fal.Queued):
            return Look("queued", int(status.position or 0))  # null while fal does not know it
        logs = tuple(self.masked(str(line.get("message", ""))) for line in status.logs or () if isinstance(line, dict))
        if isinstance(status, fal.InProgress):
            return Look("running", logs=logs)
        error, kind = status.error, status.error_type
        return Look("completed", 0, logs, self.masked(error) if error else "", self.masked(kind) if kind else "")

    def result(self, request: Accepted) -> Any:
        """The output of a completed request.

        Raises:
            RefusedError: the model failed, finally. UnansweredError, GoneError. BadInputError: the key is refused.
        """
        self._check_addresses(request)
        try:
            response = self._http.get(request.response_url, timeout=_POLL_TIMEOUT)
        except httpx.HTTPError as error:
            raise UnansweredError(type(error).__name__) from None
        if response.status_code < 300:
            try:
                return json.loads(self._without_key(response.text))
            except ValueError:
                raise UnansweredError("the answer cannot be read") from None
        self._check_key(response)
        message, error_type = self._told(response)
        if response.status_code in (404, 410):
            raise GoneError(message)
        if response.status_code in (408, 409, 429) or fal._is_ingress_error(response) or not error_type:
            raise UnansweredError(f"{response.status_code}: {message}")
        raise RefusedError(response.status_code, message, error_type)

    def history(self, endpoint: str, since: datetime) -> list[dict[str, Any]]:
        """The account's requests to an endpoint since a moment, with what was sent, as far as fal lists them.

        Raises:
            UnansweredError: the list cannot be had, or not to its end.
        """
        asked = {"endpoint_id": endpoint, "start": since.isoformat(), "limit": "100", "expand": "payloads"}
        items: list[dict[str, Any]] = []
        for _ in range(_MOST_PAGES):
            try:
                response = self._http.get(
                    f"{self.address.api}/models/requests/by-endpoint",
                    params=asked,
                    timeout=_POLL_TIMEOUT,
                    follow_redirects=False,
                )
                page = response.json() if response.status_code == 200 else None
            except (httpx.HTTPError, ValueError) as error:
                raise UnansweredError(type(error).__name__) from None
            if not isinstance(page, dict) or not isinstance(page.get("items"), list):
                raise UnansweredError(f"{response.status_code}")
            items += [item for item in page["items"] if isinstance(item, dict)]
            if not page.get("has_more"):
                return items
            asked["cursor"] = str(page.get("next_cursor") or "")
        raise UnansweredError("the list has no end")

    def cancel(self, request: Accepted) -> bool:
        """Ask to drop a request. True = it was asked; False = it had ended before.

        Raises:
            UnansweredError, GoneError. BadInputError: the key is refused.
        """
        self._check_addresses(request)
        try:
            response = self._http.put(request.cancel_url, timeout=_POLL_TIMEOUT)
        except httpx.HTTPError as error:
            raise UnansweredError(type(error).__name__) from None
        if response.status_code < 300:
            return True
        self._check_key(response)
        if response.status_code == 400:
            return False
        if response.status_code == 404:
            raise GoneError(self._told(response)[0])
        raise UnansweredError(f"{response.status_code}")

    def _check_addresses(self, request: Accepted) -> None:
        for url in (request.response_url, request.status_url, request.cancel_url):
            if not self.address.may_have_key(url):
                raise BadInputError(
                    "The ledger names an address that is not fal's; the key is not sent there.",
                    key=request.request_id,
                    hint="Is the ledger your own, and $ANYMOCAP_FAL_URL as it was when the request was sent?",
                )

    def _check_key(self, response: httpx.Response) -> None:
        if response.status_code not in (401, 403):
            return
        raise BadInputError(
            f"fal refuses the account's key ({response.status_code}): {self._told(response)[0]}",
            key="FAL_KEY",
            hint="Check the key in the preferences, and the account's balance. What was sent before goes on at fal.",
        )

    def _told(self, response: httpx.Response) -> tuple[str, str]:
        """Message and error type of a failed response: a model's list of details, or one text."""
        try:
            body = response.json()
        except ValueError:
            body = None
        error_type = response.headers.get("x-fal-error-type", "")
        if not isinstance(body, dict):
            text = "" if "<html" in response.text.lower() else " ".join(response.text.split())  # a gateway's page
            return self.masked(text or response.reason_phrase), self.masked(error_type)
        detail = body.get("detail", body)
        error_type = body.get("error_type") or error_type
        if isinstance(detail, list) and detail and all(isinstance(one, dict) for one in detail):
            error_type = str(detail[0].get("type", "")) or error_type
            detail = "; ".join(str(one.get("msg", "")) for one in detail)
        return self.masked(detail), self.masked(str(error_type))


def _retry_after(response: httpx.Response) -> float | None:
    try:
        return max(0.0, float(response.headers.get("retry-after", "")))
    except ValueError:
        return None
