"""OpenAI-compatible chat endpoint as a reasoner for `ask`: the openai client within limits; needs the extra `llm`."""

from __future__ import annotations

import json
import threading
import weakref
import zlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from ...contract.checks import check_number
from .calls import CallFailed, RetryLater
from .replies import Reply, changed, valid_text
from .secrets import SHORTEST_SECRET, checked_address, checked_key, redactor

__all__ = ["Endpoint"]

#: largest reply in bytes, decompressed
MOST_BYTES = 4 * 2**20

_TRY_AGAIN = (408, 409, 425, 429)
_SETTINGS = (401, 403, 404, 405)


class _TooLong(Exception):
    """A reply exceeds the limit of bytes."""


class Endpoint:
    """Chat model called over HTTP by the openai client: a function from a prompt to its `Reply`.

    Parameters
    ----------
    url : str
        Address up to and including the version: `http://127.0.0.1:8000/v1`. It holds no user name, password or query.
    model : str
        Name of the model.
    api_key : str, optional
        Sent as a bearer token; read it from the environment rather than writing it into scripts. Space around it is
        removed. It is neither shown nor cached: where a server repeats it, `***` stands for it in messages, and in
        replies if it has 8 characters or more. No key is taken from the environment.
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
    a wrong address or key, and no more questions are asked; other status codes are refusals of their question.
    Redirects are refused. A reply may have 4 MiB, decompressed. Lone surrogates in prompts are sent as U+FFFD.

    Examples
    --------
    >>> from causaleval_pd.reasoning import Endpoint
    >>> with Endpoint("http://127.0.0.1:8000/v1", "small-model", temperature=0.0) as model:
    ...     model.name
    'small-model at http://127.0.0.1:8000/v1 {"temperature": 0.0}'
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
            import openai
        except ImportError:
            raise ImportError("Endpoint needs the openai client: pip install 'causaleval_pd[llm]'") from None
        self._openai, self._http = openai, httpx2
        self.url, self.model = checked_address(url), model
        self.timeout = check_number(timeout, "timeout", "(0, inf)")
        self.system = system
        settings = {"temperature": temperature, "max_tokens": max_tokens, **(options or {})}
        self.settings = {name: value for name, value in settings.items() if value is not None}
        key = checked_key(api_key)
        # functions, since an attribute with the key could be shown
        self._without_key = redactor([key] if key else [])
        self._reply_without_key = redactor([key] if key and len(key) >= SHORTEST_SECRET else [])
        shown_settings = self.settings | ({"system": system} if system else {})
        try:
            described = json.dumps(shown_settings, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"temperature, max_tokens and options must be valid JSON: {error}") from None
        self._name = self._reply_without_key(f"{model} at {self.url} {described}")
        # no encoding is requested, since a small compressed reply may be huge; nothing is sent but what is given here
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        # `ask` limits the connections, and _send the time
        limits = httpx2.Limits(max_connections=None)
        transport = _limited(headers, limits=limits)
        http = httpx2.AsyncClient(transport=transport, timeout=None, follow_redirects=False)
        self._client = openai.AsyncOpenAI(
            api_key="none", base_url=self.url, max_retries=0, timeout=None, http_client=http
        )
        self._running = ExitStack()
        # at the exit of Python too, while the thread of the event loop still runs: later it would be waited for in vain
        weakref.finalize(self, self._running.close)
        self._portal: Any = None
        self._is_closed = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r})"

    def __reduce__(self) -> Any:
        raise TypeError("an Endpoint is not pickled, since it may hold a key")

    @property
    def name(self) -> str:
        """Model, address and settings, the name in the cache of `ask`."""
        return self._name

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            self._is_closed = True
            self._running.close()

    def __call__(self, prompt: str) -> Reply:
        """Send one prompt and return the reply."""
        fault: Exception
        try:
            completion = self._loop().call(self._send, prompt)
            return changed(_reply(completion), self._reply_without_key)
        except TimeoutError:
            fault = RetryLater(f"no reply within {self.timeout:g} s")
        except self._openai.APIStatusError as error:
            fault = self._refusal(error.response)
        except (self._openai.APIConnectionError, self._http.TransportError, zlib.error, _TooLong) as error:
            fault = self._broken(error.__cause__ or error)
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            found = self._without_key(str(error))[:200]
            fault = RetryLater(f"the reply is not a chat completion ({type(error).__name__}): {found}")
        # raised here, since the first exception, its context otherwise, may hold the key
        raise fault

    def _loop(self) -> Any:
        """Return the event loop of this endpoint, in a thread of its own: only there a deadline ends any wait."""
        from anyio.from_thread import start_blocking_portal

        with self._lock:
            if self._is_closed:
                raise RuntimeError("this Endpoint is closed; make a new one")
            if self._portal is None:
                self._portal = self._running.enter_context(start_blocking_portal())
                self._running.callback(self._portal.call, self._client.close)
            return self._portal

    async def _send(self, prompt: str) -> Any:
        from anyio import fail_after

        messages: list[Any] = [{"role": "user", "content": valid_text(prompt)}]
        if self.system:
            messages.insert(0, {"role": "system", "content": valid_text(self.system)})
        with fail_after(self.timeout):
            return await self._client.chat.completions.create(
                model=self.model, messages=messages, extra_body=self.settings
            )

    def _refusal(self, response: Any) -> Exception:
        """Return the exception of a status code; the key is removed first, since a part of it must not stay."""
        status, found = response.status_code, self._without_key(response.content.decode("utf-8", "replace"))[:200]
        if status in _TRY_AGAIN or status >= 500:
            return RetryLater(f"status {status}: {found}", _seconds(response.headers.get("retry-after")))
        if status in _SETTINGS or 300 <= status < 400:
            return PermissionError(f"{self.url} answers with status {status}: {found}; check address, model and key")
        return CallFailed(f"status {status}: {found}")

    def _broken(self, error: BaseException) -> Exception:
        if isinstance(error, _TooLong):
            return CallFailed(f"the reply is longer than {MOST_BYTES} bytes")
        return RetryLater(self._without_key(f"broken connection: {type(error).__name__}: {error}"))


def _reply(completion: Any) -> Reply:
    """Return the reply in a chat completion; content may be text, a list of parts, or null."""
    if isinstance(completion, str):  # a body that is not JSON
        raise ValueError(completion)
    choices = getattr(completion, "choices", None)
    if not isinstance(choices, list) or not choices:
        # whole, since the key is removed before texts are cut
        error = getattr(completion, "error", None)
        raise ValueError("it has no choices" if error is None else f"it has no choices, but the error {error}")
    choice, usage = choices[0], completion.usage
    content = choice.message.content
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") in ("text", "output_text"))
    refusal = getattr(choice.message, "refusal", None)
    if not isinstance(content, str) and not refusal and choice.finish_reason != "content_filter":
        raise TypeError(f"it has no text, and ends with {choice.finish_reason!r}")
    return Reply(
        content if isinstance(content, str) else None,
        refusal=refusal or None,
        finish_reason=choice.finish_reason,
        model_version=completion.model,
        input_tokens=getattr(usage, "prompt_tokens", None),
        output_tokens=getattr(usage, "completion_tokens", None),
    )


def _limited(headers: Mapping[str, str], **options: Any) -> Any:
    """Return a transport that sets headers, reads whole bodies, decompresses them and stops at the limit of bytes."""
    import httpx2

    # the openai client would add names and keys that it finds in the environment
    dropped = ("authorization", "openai-organization", "openai-project")

    class Limited(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: Any) -> Any:
            for name in dropped:
                request.headers.pop(name, None)
            request.headers.update(headers)
            response = await super().handle_async_request(request)
            try:
                body = await _body(response)
            finally:
                await response.aclose()
            if len(body) > MOST_BYTES and response.status_code == 200:
                raise _TooLong
            kept = {name: value for name, value in response.headers.items() if name == "retry-after"}
            kept["content-type"] = "application/json"
            return httpx2.Response(response.status_code, headers=kept, content=bytes(body[:MOST_BYTES]))

    return Limited(**options)


async def _body(response: Any) -> bytearray:
    decompress = _decompressor(response.headers.get("content-encoding", ""))
    if decompress is None:
        raise ValueError("the body has a content encoding that was not requested")
    body = bytearray()
    async for received in response.aiter_raw():
        body += decompress(received, MOST_BYTES + 1 - len(body))
        if len(body) > MOST_BYTES:
            break
    return body


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
