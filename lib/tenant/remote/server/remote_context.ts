// What every part of a remote store works with, and the one way in which it speaks to a location.
import type { Clock } from "../../../core/clock.ts";
import { AppError } from "../../../core/errors.ts";
import { type Log, quietLog } from "../../../core/log.ts";
import { streamOnce } from "../../../core/send_once.ts";
import { readSyntax } from "../../../sql/grammar/syntax.ts";
import type { CommitNotices } from "../../commit_notices.ts";
import { DEFAULT_LOG_BYTES } from "../../log/log_buffer.ts";
import { GateThread } from "../gate/gate_thread.ts";
import type { GateEngine } from "../gate/gate_engine.ts";
import type { BatchAnswer, BatchRequest, HranaStep, StepResult, StepRows } from "../hrana/hrana.ts";
import { type HranaEndpoint, sendBatch, type SendOptions } from "../hrana/hrana_client.ts";
import { ConnectionPoster, type Fetch, fetchPoster, type Poster } from "../hrana/poster.ts";
import { Stopped, withDeadline } from "../hrana/deadline.ts";
import { retryGone } from "../hrana/repeat.ts";
import { damageOf, RemoteFailure } from "../hrana/remote_failure.ts";
import type { PooledStream, StreamPool } from "../hrana/stream_pool.ts";
import { fitsMessage, type StreamSockets } from "../hrana/stream_sockets.ts";
import type { TransferRoom } from "../../transfer/transfer_room.ts";
import type { RequestsUnderWay } from "./requests_under_way.ts";
import type { RemotePlatform } from "./remote_platform.ts";

/** The settings of a remote store, whichever server it is on. */
export interface RemoteSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds that one statement of a caller may run. */
  readonly queryTimeoutMs: number;
  /** Days that log and audit rows stay. */
  readonly logDays: number;
  /** Days that snapshots stay. */
  readonly snapshotDays: number;
  /** Bytes that query log and calls may have in one database. Default: `DEFAULT_LOG_BYTES`. */
  readonly logBytes?: number;
  /** What statements are compiled with before they are sent. Default: what the runtime has. */
  readonly gateEngine?: GateEngine;
  /** What a text says to the gate. Default: `readSyntax`, which takes long for a long text. */
  readonly syntax?: typeof readSyntax;
  /** Sends all requests. Default: `streamOnce`, and connections of the store's own where there is no TLS. */
  readonly fetch?: Fetch;
  /** Where exports and imports work; null, which is the default: this process starts no child. */
  readonly transferRoom?: TransferRoom | null;
  /** The control plane knows databases, so that their catalogue has to be there. Default: it may be new. */
  readonly knowsDatabases?: boolean;
}

/** What a store is made of. */
export interface RemoteParts extends Required<RemoteSettings> {
  /** Sends requests to locations. Closed with the store. */
  readonly poster: Poster;
  /** Compiles what takes long. Closed with the store. */
  readonly gateThread: GateThread;
  readonly platform: RemotePlatform;
  /** Absent: every call opens a stream and closes it. */
  readonly streamPool?: StreamPool;
  /** Absent: streams go by HTTP. Closed with the store. */
  readonly sockets?: StreamSockets;
  /** Locations that the server can have open; absent: as many as there are. */
  readonly mostOpen?: number;
  /** One server answers all requests, so that what is asked later is never answered from an older state. */
  readonly isOneServer?: boolean;
  /** Reads that the server is given at a time, but for slow ones. Default: 64. */
  readonly readsAtOnce?: number;
  /** Name of the catalogue's own location, where it is not the usual one. */
  readonly catalogLocation?: string;
}

/** What the parts of the store share. */
export interface RemoteContext extends RemoteParts {
  /** The requests to locations. */
  readonly underWay: RequestsUnderWay;
  readonly commits: CommitNotices;
}

/** The settings with their defaults, and nothing of what else the object may hold. */
export function withDefaults(
  { clock, log, queryTimeoutMs, logDays, snapshotDays, ...more }: RemoteSettings,
): Omit<RemoteParts, "platform"> {
  const {
    logBytes = DEFAULT_LOG_BYTES,
    gateEngine = "auto",
    fetch,
    transferRoom = null,
    knowsDatabases = false,
  } = more;
  const { syntax = readSyntax } = more;
  const quiet = quietLog(log, clock, ["warn", "error"]);
  return {
    clock,
    log: quiet,
    queryTimeoutMs,
    logDays,
    snapshotDays,
    logBytes,
    gateEngine,
    syntax,
    fetch: fetch ?? streamOnce,
    poster: fetch ? fetchPoster(fetch) : new ConnectionPoster(streamOnce, clock),
    gateThread: new GateThread(clock),
    transferRoom,
    knowsDatabases,
  };
}

/** What a token or a stream may do. */
export type Mode = "read" | "write";

/** Milliseconds for the service's own statements. */
export const OWN_TIMEOUT_MS = 15_000;
/** Milliseconds that closing idle streams, and what else is under way when the store closes, may take. */
export const CLOSE_MS = 2000;

/** One round trip to a location. Throws `RemoteFailure`, which names the location. */
export function send(
  context: RemoteContext,
  target: { readonly location: string; readonly mode: Mode },
  request: BatchRequest,
  options: SendOptions,
): Promise<BatchAnswer> {
  return askLocation(
    context,
    target,
    options,
    (endpoint) => exchange(context, endpoint, request, options),
  );
}

/** By the socket of the stream, where it has one or is to have one. */
async function exchange(
  { poster, sockets }: RemoteContext,
  endpoint: HranaEndpoint,
  request: BatchRequest,
  options: SendOptions,
): Promise<BatchAnswer> {
  const { signal, stays = false, binary = false } = options;
  if (sockets) {
    const opens = stays && request.baton === null && !binary && fitsMessage(request.steps);
    const baton = opens ? await sockets.open(endpoint, signal) : request.baton;
    if (sockets.carries(baton)) return await sockets.send(baton, request, signal);
  }
  return await sendBatch(poster, endpoint, request, options);
}

/** Has `ask` send one request to where the location answers. Throws `RemoteFailure`, which names the location. */
export function askLocation<T>(
  context: RemoteContext,
  target: { readonly location: string; readonly mode: Mode },
  options: Pick<SendOptions, "signal" | "once">,
  ask: (endpoint: HranaEndpoint) => Promise<T>,
): Promise<T> {
  const { underWay, log } = context;
  return underWay.note(
    askAdmitted(context, target, options, ask).catch((error) => {
      if (!(error instanceof RemoteFailure)) throw error;
      if (error.reason === "out_of_files") {
        log("error", "tenants_out_of_files", { variable: "TENANTS_OPEN_MAX" });
      }
      throw error.at(target.location);
    }),
  );
}

/** A request whose token was refused has not run: it is sent once more with another token, unless it may go out only once. */
async function askAdmitted<T>(
  { platform, log }: RemoteContext,
  { location, mode }: { readonly location: string; readonly mode: Mode },
  { signal, once = false }: Pick<SendOptions, "signal" | "once">,
  ask: (endpoint: HranaEndpoint) => Promise<T>,
): Promise<T> {
  for (let renewed = once;; renewed = true) {
    const endpoint = await endpointInTime(platform.endpoint(location, mode), signal);
    const work = () => ask(endpoint);
    try {
      return await (once ? work() : retryGone(work));
    } catch (error) {
      const denied = error instanceof RemoteFailure && error.reason === "denied";
      if (!denied) throw error;
      const another = platform.refused(location, mode, endpoint, error.more.expiredMs ?? null);
      if (renewed || !another) {
        const status = error.more.code ?? "";
        if (!once) log("error", "tenants_setting_refused", { variable: platform.dataSecret, status });
        throw error;
      }
    }
  }
}

/** Errors: `store_unavailable` where the deadline passes before anything is sent: the platform took that time. */
async function endpointInTime(
  endpoint: HranaEndpoint | Promise<HranaEndpoint>,
  signal: AbortSignal | null,
): Promise<HranaEndpoint> {
  const inTime = () => {
    const stopped = signal?.reason;
    if (stopped instanceof Stopped && stopped.why === "timeout") throw new AppError("store_unavailable");
  };
  const given = await Promise.resolve(endpoint).catch((error) => {
    inTime();
    throw error;
  });
  inTime();
  return given;
}

/**
 * The service's own statements on a stream that is closed behind them. `binary`: in the form of the protocol that has
 * infinities. Throws `RemoteFailure`.
 */
export async function runOwn(
  context: RemoteContext,
  { binary = false, ...target }: {
    readonly location: string;
    readonly mode: Mode;
    readonly binary?: boolean;
  },
  steps: readonly HranaStep[],
): Promise<readonly StepResult[]> {
  const request = { steps, baton: null, close: true };
  const answer = await inOwnTime((signal) => send(context, target, request, { signal, binary }));
  return answer.steps;
}

/** Bounds the time of a request of the service's own. Throws `RemoteFailure`, also where it takes too long. */
export async function inOwnTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await withDeadline(OWN_TIMEOUT_MS, [], ask);
  } catch (error) {
    throw error instanceof Stopped ? new RemoteFailure("unreachable", "no answer in time") : error;
  }
}

/** Closes an idle stream. Where that fails the server does it by itself, but until then the stream counts. */
export function closeStream(context: RemoteContext, { location, mode, baton }: PooledStream): void {
  const signal = AbortSignal.timeout(CLOSE_MS);
  send(context, { location, mode }, { steps: [], baton, close: true }, { signal }).catch(() => {});
}

/** The rows of a step of the service's own. Throws `RemoteFailure` where the step has failed or was left out. */
export function rowsAt(steps: readonly StepResult[], at: number): StepRows["rows"] {
  const step = steps[at];
  if (step?.ok) return step.rows;
  const damage = step && damageOf(step.code, step.message);
  throw damage ?? new RemoteFailure("unreachable", step ? step.message : "a step was left out");
}
