// Where a client gets its codes: which addresses it may name, and which address is one that it has named (RFC 8252).
import { LOOPBACK_NAMES } from "../../core/loopback.ts";
import { oauthLimits } from "../../core/oauth_limits.ts";

/** What browsers read themselves, or what leads into another protocol, is no program's own scheme. */
const NOT_OWN = new Set([
  ...[
    "javascript",
    "vbscript",
    "data",
    "blob",
    "file",
    "filesystem",
    "about",
    "view-source",
    "javascript-uri",
  ],
  ...["http", "https", "ws", "wss", "ftp", "sftp", "ssh", "mailto", "tel", "sms", "urn", "intent", "jar"],
]);
/** A host of letters that a policy of a page can hold: some that addresses may have end a directive there. */
const PLAIN_HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;
const OWN_SCHEME = /^[a-z][a-z0-9+.-]{0,63}:$/;

/**
 * The address, if a client may name it: https anywhere, http on this machine, or a scheme of a program. It has no
 * fragment and no user, and is written as browsers write it where that decides about its host.
 */
export function readRedirectUri(text: string): URL | null {
  if (text.length > oauthLimits.redirectUriLength || !/^[!-~]+$/.test(text) || /[\\"'<>`]/.test(text)) {
    return null;
  }
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if (text.includes("#") || url.username !== "" || url.password !== "") return null;
  if (url.protocol === "https:") return PLAIN_HOST.test(url.hostname) && isWritten(text, url) ? url : null;
  if (url.protocol === "http:") {
    return LOOPBACK_NAMES.includes(url.hostname) && isWritten(text, url) ? url : null;
  }
  const scheme = url.protocol.slice(0, -1);
  return OWN_SCHEME.test(url.protocol) && !NOT_OWN.has(scheme) && text.length > url.protocol.length
    ? url
    : null;
}

/** `https:example.com`, `https:///example.com` and `http://0x7f.1` are readings, not addresses. */
function isWritten(text: string, { protocol, host }: URL): boolean {
  const rest = text.slice(`${protocol}//`.length);
  const written = /^[^/?]*/.exec(rest)?.[0].toLowerCase() ?? "";
  const port = protocol === "https:" ? ":443" : ":80";
  return text.toLowerCase().startsWith(`${protocol}//`) && (written === host || written === host + port);
}

/** Whether an address is one of those that the client has registered: the same text, on this machine whatever the port. */
export function isRegistered(asked: string, registered: readonly string[]): boolean {
  const url = readRedirectUri(asked);
  if (url === null) return false;
  return registered.includes(asked) || registered.some((one) => isSameLoopback(url, one, asked));
}

function isSameLoopback(url: URL, registered: string, asked: string): boolean {
  const own = readRedirectUri(registered);
  if (own === null || url.protocol !== "http:" || own.protocol !== "http:") return false;
  return own.hostname === url.hostname && behindHost(registered) === behindHost(asked);
}

/** Path and query, as written. */
function behindHost(text: string): string {
  return text.slice(/^[^:]+:\/\/[^/?]*/.exec(text)?.[0].length ?? 0);
}

/** What people are told about where a code goes: the host, or the scheme of a program. */
export function redirectHost(uri: string): string {
  const url = new URL(uri);
  return url.host === "" || !["http:", "https:"].includes(url.protocol)
    ? url.protocol.slice(0, -1)
    : url.host;
}

/** The address with further parameters in its query. */
export function withParameters(uri: string, parameters: Readonly<Record<string, string>>): string {
  const added = new URLSearchParams(parameters).toString();
  return `${uri}${uri.includes("?") ? (/[?&]$/.test(uri) ? "" : "&") : "?"}${added}`;
}
