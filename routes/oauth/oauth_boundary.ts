// Failures of the endpoints of OAuth, in the form of RFC 6749 (5.2): clients decide by `error` what to do next.
import type { ErrorHandler } from "hono";
import type { Log } from "../../lib/core/log.ts";
import type { Env } from "../http/env.ts";
import { errorBoundary } from "../middleware/error_boundary.ts";

/** Codes of our table that are words of OAuth as well. */
const OWN_WORDS =
  /^(?:invalid_(?:request|client|grant|scope|target|redirect_uri|client_metadata)|unsupported_\w+)$/;

/** Answers with the status and headers that `errorBoundary` decides about, which also logs what nobody expected. */
export function oauthBoundary(log: Log): ErrorHandler<Env> {
  const boundary = errorBoundary(log);
  return async (error, c) => {
    const plain = await boundary(error, c);
    // There is no such endpoint: nothing of OAuth.
    if (plain.status === 404 || plain.status === 405) return plain;
    const { code, error: message } = await plain.json();
    const word = OWN_WORDS.test(code) ? code : wordOf(plain.status);
    const headers = new Headers(plain.headers);
    headers.delete("content-length");
    headers.delete("www-authenticate");
    headers.set("cache-control", "no-store");
    return new Response(JSON.stringify({ error: word, error_description: message }), {
      status: plain.status,
      headers,
    });
  };
}

/** For failures that OAuth has no word of its own for. */
function wordOf(status: number): string {
  if (status === 429 || status > 500) return "temporarily_unavailable";
  return status === 500 ? "server_error" : "invalid_request";
}
