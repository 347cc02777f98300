"""Where fal is: its own hosts, or a proxy that $ANYMOCAP_FAL_URL names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..errors import BadInputError

URL_VARIABLE = "ANYMOCAP_FAL_URL"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_OWN_HOSTS = (".fal.run", ".falrun.com", ".fal.ai")


@dataclass(frozen=True)
class FalAddress:
    """The addresses that fal-client talks to, and the account's, without a slash at the end; empty = fal's own."""

    queue: str = ""
    rest: str = ""
    cdn: str = ""
    api: str = "https://api.fal.ai/v1"

    def may_have_key(self, url: str) -> bool:
        """Whether the key may be sent to `url`. A ledger that came from elsewhere could name any host."""
        parts = urlsplit(url)
        if self.queue:
            own = urlsplit(self.queue)
            return (parts.scheme, parts.netloc) == (own.scheme, own.netloc)
        return parts.scheme == "https" and ("." + (parts.hostname or "")).endswith(_OWN_HOSTS)


def fal_address() -> FalAddress:
    """Fal's own hosts; with $ANYMOCAP_FAL_URL=<base> the queue is at <base>/queue, the REST interface at <base>/rest
    uploads at <base>/cdn and the account at <base>/api, for a company's own proxy.

    Raises:
        BadInputError: it is no https address (http is allowed on this machine only: the key goes there).
    """
    base = os.environ.get(URL_VARIABLE, "").strip().rstrip("/")
    if not base:
        return FalAddress()
    parts = urlsplit(base)
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not safe or not parts.netloc or "@" in parts.netloc:
        raise BadInputError(
            "is no https address.",
            key=URL_VARIABLE,
            hint="http is for this machine only, because the key is sent there.",
        )
    return FalAddress(f"{base}/queue", f"{base}/rest", f"{base}/cdn", f"{base}/api")
