"""Sends one request over a pool of kept connections and reads its answer, within bounds of time and size."""

from __future__ import annotations

import io
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from rollout.models import Patience

LARGEST = 16 * 1024 * 1024
"""How many bytes an answer may have."""

# aiohttp warns of bytes past this size, because they are written in one go.
_LARGE_BODY = 2**20


@dataclass(frozen=True, slots=True)
class Response:
    """What came back: the status, the headers, whose names are read in any case, and the body.

    ``waits`` are the seconds after each of which it was asked for a further time, without giving up the time before,
    with a clause where that came to nothing: “answered 500”.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    waits: tuple[tuple[float, str], ...] = ()


class WireError(Exception):
    """An attempt that came to no answer; its text is a clause without a subject: “did not answer within 30 seconds”.

    ``reached`` is False when no connection was made at all; ``hopeless`` when another attempt cannot fare better;
    ``overlong`` when there was an answer, and more of it than is read.
    """

    def __init__(
        self, clause: str, *, reached: bool = True, hopeless: bool = False, overlong: bool = False
    ) -> None:
        super().__init__(clause)
        self.overlong = overlong
        self.reached = reached
        self.hopeless = hopeless


class Wire:
    """One address, and at most ``connections`` connections to it, which are kept. Opened when first used."""

    def __init__(
        self, address: str, headers: Mapping[str, str], *, connections: int, patience: Patience
    ) -> None:
        self._url = URL(address, encoded=True)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            # To unpack an answer costs more than to read it.
            "Accept-Encoding": "identity",
            "User-Agent": "rolloutdev",
            **headers,
        }
        self._connections = connections
        self._patience = patience
        self._timeout = aiohttp.ClientTimeout(total=patience.call, sock_connect=patience.connect)
        self._proxy, self._proxy_auth = _proxy(address)
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: bytes, within: float) -> Response:
        """Sends ``body``; at most ``within`` seconds are left. Raises WireError."""
        session = self._session or self._open()
        patience, timeout = self._patience, self._timeout
        if within < patience.call:
            timeout = aiohttp.ClientTimeout(total=within, sock_connect=patience.connect)
        data: Any = body if len(body) < _LARGE_BODY else io.BytesIO(body)
        try:
            async with session.post(
                self._url,
                data=data,
                timeout=timeout,
                allow_redirects=False,
                proxy=self._proxy,
                proxy_auth=self._proxy_auth,
            ) as response:
                return Response(response.status, response.headers, await _read(response))
        except TimeoutError as error:
            if isinstance(error, aiohttp.ConnectionTimeoutError):
                raise WireError(
                    f"could not be reached within {patience.connect:g} seconds", reached=False
                ) from None
            raise WireError(f"did not answer within {timeout.total:.3g} seconds") from None
        except aiohttp.ClientSSLError as error:
            raise _untrusted(error) from None
        except aiohttp.ClientConnectorError as error:
            raise WireError(f"could not be reached ({_reason(error)})", reached=False) from None
        except aiohttp.ClientHttpProxyError as error:
            raise WireError(
                f"could not be reached through the proxy, which answered {error.status}", reached=False
            ) from None
        except aiohttp.ClientResponseError as error:
            raise WireError(f"answered in something that is not HTTP ({error.message[:80]})") from None
        except (aiohttp.ClientError, OSError) as error:
            raise WireError(f"dropped the connection ({_reason(error)})") from None

    async def close(self) -> None:
        """Closes all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=self._connections,
            ssl=_trust() if self._url.scheme == "https" else False,
            keepalive_timeout=60,
            ttl_dns_cache=300,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=self._timeout,
            # A server's words for what it refuses may be long; its headers may be, too.
            max_line_size=32_768,
            max_field_size=32_768,
        )
        return self._session


async def _read(response: aiohttp.ClientResponse) -> bytes:
    length = response.content_length
    if length is not None and length <= LARGEST and "Content-Encoding" not in response.headers:
        return await response.read()
    read = bytearray()
    if length is None or length <= LARGEST:
        async for chunk in response.content.iter_any():
            read += chunk
            if len(read) > LARGEST:
                break
        else:
            return bytes(read)
    raise WireError(f"answered with more than {LARGEST // 2**20} MiB", overlong=True)


def _proxy(address: str) -> tuple[str | None, aiohttp.BasicAuth | None]:
    """The proxy that the environment variables name for ``address``, as ``urllib`` reads them; looked up once."""
    parts = urlsplit(address)
    found = getproxies().get(parts.scheme) or getproxies().get("all")
    if not found or not parts.hostname or proxy_bypass(parts.hostname):
        return None, None
    url, auth = aiohttp.helpers.strip_auth_from_url(URL(found))
    return str(url), auth


def _trust() -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not context.cert_store_stats()["x509_ca"] and not context.get_ca_certs():
        # Some builds of Python come without certificates of their own.
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _untrusted(error: aiohttp.ClientSSLError) -> WireError:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        reason = getattr(error.certificate_error, "verify_message", "") or "it does not hold"
        return WireError(f"has no certificate that is trusted here ({reason})", reached=False, hopeless=True)
    reason = getattr(error.os_error, "reason", "") or "no handshake"
    return WireError(f"could not be reached over TLS ({reason})", reached=False, hopeless=True)


def _reason(error: BaseException) -> str:
    inner = getattr(error, "os_error", None) or error
    number = getattr(inner, "errno", None)
    # The event loop's own words for a system's error are its call and its arguments.
    words = os.strerror(number) if isinstance(number, int) and number > 0 else str(inner)
    words = words or type(inner).__name__
    return " ".join(str(words).split())[:120]


__all__ = ["LARGEST", "Response", "Wire", "WireError"]
