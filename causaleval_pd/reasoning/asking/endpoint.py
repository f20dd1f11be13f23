"""OpenAI-compatible chat endpoint as a reasoner for `ask`; needs the extra `llm`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from ...contract.checks import check_type
from .calls import CallFailed, RetryLater

__all__ = ["Endpoint"]

#: largest reply in bytes
MOST_BYTES = 4 * 2**20

_TRY_AGAIN = (408, 409, 425, 429)
_SETTINGS = (401, 403, 404, 405)


class Endpoint:
    """Chat model called over HTTP: a function from a prompt to its reply.

    Parameters
    ----------
    url : str
        Address up to and including the version: `http://127.0.0.1:8000/v1`. "/chat/completions" is added.
    model : str
        Name of the model.
    api_key : str, optional
        Sent as a bearer token; read it from the environment rather than writing it into scripts. It is neither shown
        nor part of the name in the cache.
    system : str, optional
        System message.
    temperature : float
        Sampling temperature.
    max_tokens : int, optional
        Largest number of tokens of a reply.
    timeout : float
        Seconds for a whole call.
    options : mapping, optional
        Further fields of the request.

    Raises
    ------
    ImportError
        If the extra `llm` is not installed.
    ValueError
        If `url` is not a valid address.

    Notes
    -----
    Timeouts, broken connections, the status codes 408, 409, 425, 429 and 5xx, and replies that are not JSON of
    the expected form are tried again by `ask`, after the time in a Retry-After header. 401, 403, 404 and 405 indicate
    a wrong address or key and end the call; other refusals are recorded for their question.

    Examples
    --------
    >>> from causaleval_pd.reasoning import Endpoint
    >>> with Endpoint("http://127.0.0.1:8000/v1", "small-model", temperature=0.0) as model:
    ...     model.name
    'small-model {"temperature": 0.0}'
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        system: str | None = None,
        temperature: float = 0.0,
        max_tokens: int | None = None,
        timeout: float = 60.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        try:
            import httpx2
        except ImportError:
            raise ImportError("Endpoint needs httpx2: pip install 'causaleval_pd[llm]'") from None
        check_type(url, str, "the address of a server", "url")
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url must start with http:// or https://, found {url!r}")
        self._http = httpx2
        self.url = url.rstrip("/") + "/chat/completions"
        self.model = model
        self.timeout = float(timeout)
        self.system = system
        settings = {"temperature": temperature, "max_tokens": max_tokens, **(options or {})}
        self.settings = {name: value for name, value in settings.items() if value is not None}
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx2.Client(headers=headers, timeout=self.timeout, follow_redirects=False)

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.name!r})"

    @property
    def name(self) -> str:
        """Model and settings, the name in the cache of `ask`."""
        settings = self.settings | ({"system": self.system} if self.system else {})
        return f"{self.model} {json.dumps(settings, sort_keys=True)}"

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __call__(self, prompt: str) -> str:
        """Send one prompt and return the text of the reply."""
        messages = [{"role": "user", "content": prompt}]
        if self.system:
            messages.insert(0, {"role": "system", "content": self.system})
        request = {"model": self.model, "messages": messages, **self.settings}
        try:
            with self._client.stream("POST", self.url, json=request) as response:
                body = self._read(response)
                status, headers = response.status_code, response.headers
        except self._http.TimeoutException:
            raise RetryLater(f"no reply within {self.timeout:g} s") from None
        except (self._http.TransportError, self._http.DecodingError) as error:
            raise RetryLater(f"broken connection: {type(error).__name__}: {error}") from None
        if status != 200:
            self._refuse(status, headers.get("retry-after"), body)
        return _text(body)

    def _read(self, response: Any) -> bytes:
        """Read a reply within limits of time and size, since a server may send it slowly or without end."""
        deadline = time.monotonic() + self.timeout
        body = bytearray()
        for received in response.iter_bytes():
            body += received
            if len(body) > MOST_BYTES:
                raise CallFailed(f"the reply is longer than {MOST_BYTES} bytes")
            if time.monotonic() > deadline:
                raise RetryLater(f"no reply within {self.timeout:g} s")
        return bytes(body)

    def _refuse(self, status: int, after: str | None, body: bytes) -> None:
        shown = body[:200].decode("utf-8", "replace")
        if status in _TRY_AGAIN or status >= 500:
            raise RetryLater(f"status {status}: {shown}", _seconds(after))
        if status in _SETTINGS or 300 <= status < 400:
            raise PermissionError(f"{self.url} answers with status {status}: {shown}; check address, model and key")
        raise CallFailed(f"status {status}: {shown}")


def _seconds(after: str | None) -> float:
    """Parse a Retry-After header in seconds; 0 for a date or anything else."""
    try:
        found = float(after or 0.0)
    except ValueError:
        return 0.0
    return found if 0 <= found < float("inf") else 0.0


def _text(body: bytes) -> str:
    try:
        content = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        shown = body[:100].decode("utf-8", "replace")
        raise RetryLater(f"the reply is not a chat completion ({type(error).__name__}): {shown!r}") from None
    if not isinstance(content, str):
        raise RetryLater(f"the reply has no text, found {type(content).__name__}")
    return content
