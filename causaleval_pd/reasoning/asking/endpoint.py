"""OpenAI-compatible chat endpoint as a reasoner for `ask`; needs the extra `llm`."""

from __future__ import annotations

import html
import json
import re
import threading
import zlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, NamedTuple

from ...contract.checks import check_number, check_type, shown
from .calls import CallFailed, RetryLater

__all__ = ["Endpoint"]

#: largest reply in bytes, decompressed
MOST_BYTES = 4 * 2**20

#: characters of the shortest key that is replaced in replies: shorter ones are placeholders, such as "EMPTY"
_SHORTEST_SECRET = 8

_TRY_AGAIN = (408, 409, 425, 429)
_SETTINGS = (401, 403, 404, 405)


class _Response(NamedTuple):
    status: int
    after: str | None
    body: bytes


class Endpoint:
    """Chat model called over HTTP: a function from a prompt to its reply.

    Parameters
    ----------
    url : str
        Address up to and including the version: `http://127.0.0.1:8000/v1`. "/chat/completions" is added. It holds
        no user name, password or query.
    model : str
        Name of the model.
    api_key : str, optional
        Sent as a bearer token; read it from the environment rather than writing it into scripts. Space around it is
        removed. It is neither shown nor cached: where a server repeats it, `***` stands for it in messages, and in
        replies if it has 8 characters or more.
    system : str, optional
        System message.
    temperature : float
        Sampling temperature.
    max_tokens : int, optional
        Largest number of tokens of a reply.
    timeout : float
        Seconds for a whole request, from looking up the address to the last byte of the reply.
    options : mapping, optional
        Further fields of the request.

    Raises
    ------
    ImportError
        If the extra `llm` is not installed.
    ValueError
        If `url` is not a valid address, `api_key` holds characters that keys do not have, `timeout` is not a
        positive number, or settings are not valid JSON.

    Notes
    -----
    Timeouts, broken connections, the status codes 408, 409, 425, 429 and 5xx, and replies that are not JSON of
    the expected form are tried again by `ask`, after the time in a Retry-After header. 401, 403, 404 and 405 indicate
    a wrong address or key and end the call; other refusals are recorded for their question. Redirects are refused. A
    reply may have 4 MiB, decompressed.

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
        self._http = httpx2
        self.url = _address(url) + "/chat/completions"
        self.model = model
        self.timeout = check_number(timeout, "timeout", "(0, inf)")
        self.system = system
        settings = {"temperature": temperature, "max_tokens": max_tokens, **(options or {})}
        self.settings = {name: value for name, value in settings.items() if value is not None}
        key = _key(api_key)
        # functions, since an attribute with the key could be shown
        self._without_key = _redactor(key)
        self._reply_without_key = _redactor(key if key and len(key) >= _SHORTEST_SECRET else None)
        shown_settings = self.settings | ({"system": system} if system else {})
        try:
            described = json.dumps(shown_settings, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"temperature, max_tokens and options must be valid JSON: {error}") from None
        self._name = self._reply_without_key(f"{model} {described}")
        # no encoding is requested, since a small compressed reply may be huge
        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        # `ask` limits the connections, and _post the time
        limits = httpx2.Limits(max_connections=None)
        self._client = httpx2.AsyncClient(headers=headers, timeout=None, limits=limits, follow_redirects=False)
        self._running = ExitStack()
        self._portal: Any = None
        self._is_closed = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.name!r})"

    @property
    def name(self) -> str:
        """Model and settings, the name in the cache of `ask`."""
        return self._name

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        with self._lock, self._running:
            if self._portal is not None and not self._is_closed:
                self._portal.call(self._client.aclose)
            self._is_closed = True

    def __call__(self, prompt: str) -> str:
        """Send one prompt and return the text of the reply."""
        messages = [{"role": "user", "content": prompt}]
        if self.system:
            messages.insert(0, {"role": "system", "content": self.system})
        # as ASCII, which holds lone surrogates too
        request = json.dumps({"model": self.model, "messages": messages, **self.settings}).encode()
        response = None
        try:
            response = self._loop().call(self._post, request)
        except TimeoutError:
            problem = f"no reply within {self.timeout:g} s"
        except (self._http.TransportError, zlib.error) as error:
            problem = self._without_key(f"broken connection: {type(error).__name__}: {error}")
        if response is None:  # raised here, since the first exception, its context otherwise, may hold the key
            raise RetryLater(problem)
        if response.status != 200:
            self._refuse(response)
        return self._reply_without_key(self._text(response.body))

    def _loop(self) -> Any:
        """Return the event loop of this endpoint, in a thread of its own: only there a deadline ends any wait."""
        from anyio.from_thread import start_blocking_portal

        with self._lock:
            if self._is_closed:
                raise RuntimeError("this Endpoint is closed; make a new one")
            if self._portal is None:
                self._portal = self._running.enter_context(start_blocking_portal())
            return self._portal

    async def _post(self, request: bytes) -> _Response:
        """Send a request and read the response within limits of time and size."""
        from anyio import fail_after

        with fail_after(self.timeout):
            async with self._client.stream("POST", self.url, content=request) as response:
                decompress = _decompressor(response.headers.get("content-encoding", ""))
                body = bytearray()
                if decompress is None:
                    body += b"(the body has a content encoding that was not requested)"
                else:
                    async for received in response.aiter_raw():
                        body += decompress(received, MOST_BYTES + 1 - len(body))
                        if len(body) > MOST_BYTES:
                            break
                return _Response(response.status_code, response.headers.get("retry-after"), bytes(body))

    def _refuse(self, response: _Response) -> None:
        status, found = response.status, self._shown(response.body)
        if status in _TRY_AGAIN or status >= 500:
            raise RetryLater(f"status {status}: {found}", _seconds(response.after))
        if status in _SETTINGS or 300 <= status < 400:
            raise PermissionError(f"{self.url} answers with status {status}: {found}; check address, model and key")
        raise CallFailed(f"status {status}: {found}")

    def _text(self, body: bytes) -> str:
        if len(body) > MOST_BYTES:
            raise CallFailed(f"the reply is longer than {MOST_BYTES} bytes")
        problem = ""
        try:
            content = json.loads(body)["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
            problem = f"the reply is not a chat completion ({type(error).__name__}): {self._shown(body)!r}"
        if problem:
            raise RetryLater(problem)
        if not isinstance(content, str):
            raise RetryLater(f"the reply has no text, found {type(content).__name__}")
        return content

    def _shown(self, body: bytes) -> str:
        """Return the start of a body for messages; the key is removed first, since a part of it must not stay."""
        return self._without_key(body.decode("utf-8", "replace"))[:200]


def _address(url: str) -> str:
    """Check an address without showing one that may hold a password."""
    import httpx2

    check_type(url, str, "the address of a server", "url")
    found = "" if "@" in url else f", found {shown(url)}"
    url = url.strip().rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"url must start with http:// or https://{found}")
    parsed = None
    if url.isprintable() and " " not in url:
        with suppress(httpx2.InvalidURL, ValueError):
            parsed = httpx2.URL(url)
    if parsed is None:
        raise ValueError(f"url is not a valid address{found}")
    if parsed.userinfo:
        raise ValueError("url holds a user name or a password, which would be shown; pass a key by api_key=")
    if parsed.query or parsed.fragment or url.endswith(("?", "#")):
        raise ValueError("url has a query or a fragment; remove it, and pass a key by api_key=")
    if not parsed.host or not (parsed.port is None or 0 < parsed.port < 2**16):
        raise ValueError(f"url has no valid host or port{found}")
    return url


def _key(api_key: str | None) -> str | None:
    """Check a key without showing it: what cannot be sent in a header would appear in the error of the request."""
    if api_key is None:
        return None
    if not isinstance(api_key, str):
        raise TypeError(f"api_key must be text, found an object of type {type(api_key).__name__}")
    key = api_key.strip()
    if not key:
        raise ValueError("api_key is empty; pass None for a server that needs none")
    if not all("!" <= character <= "~" and character not in "\"'\\" for character in key):
        raise ValueError(
            "api_key holds white space, quotation marks, backslashes, control or non-ASCII characters; check how it "
            "was read"
        )
    return key


def _redactor(key: str | None) -> Callable[[str], str]:
    """Return a function that replaces a key by ***, also where its characters are escaped as in JSON, URLs or HTML."""
    if key is None:
        return lambda text: text
    characters = []
    for character in key:
        code = ord(character)
        plain, named = re.escape(character), re.escape(html.escape(character))
        forms = [rf"\\u00{code:02x}", f"%{code:02x}", f"&#0*+{code};", f"&#x0*+{code:x};", named, rf"\\?{plain}"]
        # atomic, since equal forms would be tried in all combinations
        characters.append(f"(?>{'|'.join(forms)})")
    pattern = re.compile(f"{re.escape(key)}|{''.join(characters)}", re.IGNORECASE)
    return lambda text: pattern.sub("***", text)


def _decompressor(encoding: str) -> Callable[[bytes, int], bytes] | None:
    """Return a function from received bytes and the largest length to bytes, or None for an unknown encoding.

    Some servers compress replies though no encoding was requested.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return lambda received, most: received[:most]
        case "gzip" | "x-gzip":
            return zlib.decompressobj(wbits=31).decompress
    return None


def _seconds(after: str | None) -> float:
    """Parse a Retry-After header in seconds; 0 for a date or anything else."""
    try:
        found = float(after or 0.0)
    except ValueError:
        return 0.0
    return found if 0 <= found < float("inf") else 0.0
