// The one place where a failure becomes an HTTP answer.
import type { Context, ErrorHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { AppError, type ErrorCode, failureBody } from "../../lib/core/errors.ts";
import type { Log } from "../../lib/core/log.ts";
import { unexpectedError } from "../../lib/core/unexpected_error.ts";
import { doorError } from "../../lib/services/hrana/door_error.ts";
import { forAnyOrigin, sendWithRows } from "../http/answers.ts";
import type { Env } from "../http/env.ts";
import { isUpgrade } from "../http/is_upgrade.ts";

/** The framework's own exceptions by status, as codes of our table. */
const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  400: "validation_failed",
  401: "invalid_bearer",
  404: "not_found",
  405: "method_not_allowed",
  413: "payload_too_large",
};

/**
 * Answers an `AppError` as its row of the table says. Anything else becomes a 500 with the request id and nothing
 * more.
 */
export function errorBoundary(log: Log): ErrorHandler<Env> {
  return (error, c) => {
    const { unexpected } = error instanceof AppError ? error.facts : { unexpected: error };
    const code = codeOf(error);
    if (unexpected instanceof Error && code === "internal") {
      unexpectedError(log, c.get("arrival").requestId, unexpected);
    }
    return failureAnswer(error instanceof AppError ? orStopping(error, c) : new AppError(code), c);
  };
}

/** A stop takes bodies that are on their way: the client need not send faster, but again. */
function orStopping(error: AppError, c: Context<Env>): AppError {
  if (error.code !== "request_timeout" || !c.get("arrival").bodyWatch.isStopping) return error;
  return new AppError("shutting_down", { headers: error.facts.headers ?? {} });
}

/** The code of the answer to an error; `internal` for what nobody expects. */
export function codeOf(error: Error): ErrorCode {
  if (error instanceof AppError) return error.code;
  return (error instanceof HTTPException ? codeOfStatus[error.status] : undefined) ?? "internal";
}

/** Clients of libSQL look for `message`, and for a `code` in the words of its servers. */
const LIBSQL_PATH = /^\/(?:hrana\/|v[23](?:\/|$)|v1\/(?:execute|batch)$)/;
/** What such a client asks for where it was given another address of this service. */
const MISLED_PATH = /^\/(?!p\/).*\/(?:v[23]\/(?:pipeline|cursor)|v1\/(?:execute|batch))$/;
/** Statuses of what is not there, to whoever asks without a bearer too: a socket tells its token later. */
const NO_SOCKET: ReadonlySet<number> = new Set([401, 404, 405]);
const WHERE_LIBSQL_IS =
  "Give the client the URL /hrana/<namespace>/<database>/ of this service, with its last slash; nothing is at this one";

function failureAnswer(failure: AppError, c: Context<Env>): Response {
  const forLibsql = LIBSQL_PATH.test(c.req.path);
  const misled = !forLibsql &&
    (isUpgrade(c) && !c.req.path.startsWith("/p/")
      ? NO_SOCKET.has(failure.status)
      : failure.status === 404 && MISLED_PATH.test(c.req.path));
  const error = misled
    ? new AppError("not_found", { message: WHERE_LIBSQL_IS, extra: { message: WHERE_LIBSQL_IS } })
    : failure;
  const retryAfterSec = error.retryAfterSec;
  return sendWithRows(c, { ...failureBody(error), ...(forLibsql ? doorError(error) : {}) }, status(error), {
    ...(forLibsql ? forAnyOrigin : {}),
    ...(retryAfterSec === undefined ? {} : { "Retry-After": String(retryAfterSec) }),
    ...(error.status === 401 ? { "WWW-Authenticate": "Bearer" } : {}),
    ...error.facts.headers,
  });
}

/** Guarantee: every row of the error table has a status that may carry a body. */
function status(error: AppError): ContentfulStatusCode {
  return error.status as ContentfulStatusCode;
}
