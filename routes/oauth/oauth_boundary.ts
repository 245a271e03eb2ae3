// Failures of the endpoints of OAuth, in the form of RFC 6749 (5.2): clients decide by `error` what to do next.
import type { ErrorHandler } from "hono";
import type { Log } from "../../lib/core/log.ts";
import type { Env } from "../http/env.ts";
import { errorBoundary } from "../middleware/error_boundary.ts";

/** The words that a client may meet beside those of our own table that are OAuth's too. */
const OF_STATUS: Readonly<Record<number, string>> = {
  400: "invalid_request",
  408: "invalid_request",
  413: "invalid_request",
  429: "temporarily_unavailable",
  500: "server_error",
  503: "temporarily_unavailable",
};
const OWN_WORDS =
  /^(?:invalid_(?:request|client|grant|scope|target|redirect_uri|client_metadata)|unsupported_\w+)$/;

/** Answers with the status and headers that `errorBoundary` decides about, which also logs what nobody expected. */
export function oauthBoundary(log: Log): ErrorHandler<Env> {
  const boundary = errorBoundary(log);
  return async (error, c) => {
    const plain = await boundary(error, c);
    const { code, error: message } = await plain.json();
    const word = OWN_WORDS.test(code) ? code : OF_STATUS[plain.status] ?? "invalid_request";
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
