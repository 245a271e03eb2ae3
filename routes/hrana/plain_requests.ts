// Recognises the requests that clients send most: one statement with its values or a batch, alone or before a `close`. The
// schemas take them as they are, which costs a twentieth of a point read to find out, and an eighth of a batch; whatever is not
// recognised goes to them. A test holds what is recognised to what they say.
import { MAX_SQL_LENGTH } from "../../lib/core/limits.ts";
import { MAX_HRANA_STEPS } from "../../lib/core/limits_hrana.ts";
import type { StreamRequest } from "../../lib/services/hrana/hrana_types.ts";
import type { ClientMessage } from "../../lib/services/hrana/socket_types.ts";
import { readCondition } from "./conditions.ts";
import { isObject } from "../../lib/core/json_of.ts";

/** A body of `POST …/pipeline` of a new stream. */
export interface PlainPipeline {
  readonly baton?: null;
  readonly requests: readonly StreamRequest[];
}

/** Whether a body is an `execute` or a `batch`, or one of them and a `close`, on a new stream. */
export function isPlainPipeline(input: unknown): input is PlainPipeline {
  if (!isObject(input) || (input["baton"] ?? null) !== null) return false;
  const { requests } = input;
  if (!Array.isArray(requests) || requests.length === 0 || requests.length > 2) return false;
  const [first, close]: unknown[] = requests;
  return (isExecute(first) || isBatch(first)) &&
    (requests.length === 1 || (isObject(close) && close["type"] === "close"));
}

/** Whether a message on a socket is an `execute` or a `batch`, or opens or closes a stream. */
export function isPlainMessage(input: unknown): input is ClientMessage {
  if (!isObject(input) || input["type"] !== "request" || !isId(input["request_id"])) return false;
  const { request } = input;
  return isObject(request) && isId(request["stream_id"]) &&
    (isOpening(request) || isExecute(request) || isBatch(request));
}

function isOpening({ type }: Members): boolean {
  return type === "open_stream" || type === "close_stream";
}

function isExecute(request: unknown): request is Members {
  return isObject(request) && request["type"] === "execute" && isStatement(request["stmt"]);
}

function isBatch(request: unknown): request is Members {
  if (!isObject(request) || request["type"] !== "batch" || !isObject(request["batch"])) return false;
  const { steps } = request["batch"];
  return Array.isArray(steps) && steps.length <= MAX_HRANA_STEPS && steps.every(isStep);
}

function isStep(step: unknown, at: number): boolean {
  if (!isObject(step) || !isStatement(step["stmt"])) return false;
  const { condition } = step;
  return condition === undefined || readCondition(condition, at) !== undefined;
}

function isStatement(stmt: unknown): boolean {
  if (!isObject(stmt)) return false;
  const { args, named_args: named, want_rows: wants } = stmt;
  return isText(stmt) &&
    (named === undefined || (Array.isArray(named) && named.length === 0)) &&
    (wants === undefined || typeof wants === "boolean") &&
    (args === undefined || (Array.isArray(args) && args.every(isValue)));
}

/** A text or, as clients that keep a socket send it, the number of one that they have stored. */
function isText({ sql, sql_id: id }: Members): boolean {
  if (sql === undefined) return isId(id);
  return typeof sql === "string" && sql.length <= MAX_SQL_LENGTH && id === undefined;
}

function isValue(value: unknown): boolean {
  if (!isObject(value)) return false;
  switch (value["type"]) {
    case "integer":
    case "text":
      return typeof value["value"] === "string";
    case "float":
      return Number.isFinite(value["value"]);
    case "null":
      return true;
    default:
      return false;
  }
}

/** As the schemas have it. */
function isId(value: unknown): boolean {
  return typeof value === "number" && (value | 0) === value;
}

type Members = Readonly<Record<string, unknown>>;
