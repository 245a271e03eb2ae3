// One child of the pool for transactions: what it is doing, and when it has to be ended.
import type { TransactionRequest } from "../child/protocol.ts";
import { isSilent, MAX_RESIDENT_BYTES, SILENT_MS, spillsTooMuch } from "../pool/child_bounds.ts";
import type { EngineChild } from "../pool/engine_child.ts";
import type { ReplyFrame } from "../frames/reply_frames.ts";

/** Why a child ended while a frame was in it. */
export type Ending = "timeout" | "gone" | "memory" | "disk" | "unexpected";

/** Thrown to whoever waits for a frame of a child that has ended. */
export class ChildEnded extends Error {
  /** `unexpected` too where the frame only waited behind another one. */
  constructor(readonly ending: Ending) {
    super(ending);
  }
}

/** Work of a transaction, without what tells it apart in its child. */
export type SeatWork = Omit<TransactionRequest, "op" | "frame" | "number">;

/** Work that waits for its child. */
export interface WaitingWork {
  readonly request: SeatWork & Pick<TransactionRequest, "number">;
  readonly frame: number;
  readonly resolve: (frame: ReplyFrame) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Work in its child. `sinceMs`: when its present statement was first seen, or the work was sent; `writtenBefore`: bytes that the
 * child had written to files before that statement, absent or NaN: not known yet.
 */
interface RunningWork extends WaitingWork {
  sinceMs: number;
  statement: number;
  writtenBefore?: number;
  heard: { readonly count: number; sinceMs: number };
}

/** One child of the pool. */
export interface Place {
  readonly child: Pick<EngineChild, "send" | "kill" | "finish" | "serves" | "report">;
  /** The number of its progress file. */
  readonly number: number;
  /** The namespace of each transaction in it. */
  readonly seats: Map<number, string>;
  readonly waiting: WaitingWork[];
  running: RunningWork | null;
  /** Set when the child is being ended. */
  killed: Ending | "idle" | null;
  idleSinceMs: number;
  /** Databases that the child was sent work for and has not closed since. */
  readonly worked: Set<string>;
  /** Databases to close in the child before other work, and the one being closed, each with what waits for it. */
  readonly toClose: { readonly databaseId: string; readonly closed: () => void }[];
  closing: { readonly closed: () => void; heard?: RunningWork["heard"] } | null;
}

/** The place of a child in which nobody has a seat yet. `nowMs`: monotonic. */
export function newPlace(child: Place["child"], number: number, nowMs: number): Place {
  return {
    child,
    number,
    seats: new Map(),
    waiting: [],
    running: null,
    killed: null,
    idleSinceMs: nowMs,
    worked: new Set(),
    toClose: [],
    closing: null,
  };
}

/** Sends the next work to the child if it has none. */
export function sendNext(place: Place, nowMs: number): void {
  if (place.running !== null || place.closing !== null) return;
  const close = place.toClose.shift();
  if (close) {
    place.closing = { closed: close.closed };
    place.worked.delete(close.databaseId);
    return place.child.send({ op: "close", db: close.databaseId });
  }
  const next = place.waiting.shift();
  if (!next) return;
  place.worked.add(next.request.db);
  place.running = { ...next, sinceMs: nowMs, statement: -1, heard: { count: -1, sinceMs: nowMs } };
  place.child.send({ op: "transaction", frame: next.frame, ...next.request });
}

/** What children may take. */
export interface PlaceLimits {
  /** Milliseconds that one statement may run. */
  readonly statementMs: number;
  /** Bytes that all of them may hold together. */
  readonly memoryBytes: number;
  /** Bytes of temporary files that a read may write now. */
  readonly tempBytes: () => number;
}

/** The children to end now, and why. */
export function overdue(
  places: readonly Place[],
  limits: PlaceLimits,
  nowMs: number,
): (readonly [Place, Ending])[] {
  const found: (readonly [Place, Ending])[] = [];
  let largest: { readonly place: Place; readonly bytes: number } | null = null;
  let heldBytes = 0;
  for (const place of places) {
    if (place.killed !== null) continue;
    const { running, closing } = place;
    const report = place.child.report(running?.frame ?? 0);
    const bytes = report?.residentBytes || 0;
    heldBytes += bytes;
    if (closing !== null && isSilent(closing, report, nowMs)) found.push([place, "unexpected"]);
    if (running === null) continue;
    if (bytes > (largest?.bytes ?? 0)) largest = { place, bytes };
    const ending = endingOf(running, report, limits, nowMs);
    if (ending !== null) found.push([place, ending]);
  }
  if (heldBytes > limits.memoryBytes && found.length === 0 && largest) found.push([largest.place, "memory"]);
  return found;
}

function endingOf(
  running: RunningWork,
  report: ReturnType<EngineChild["report"]>,
  { statementMs, tempBytes }: PlaceLimits,
  nowMs: number,
): Ending | null {
  const silent = isSilent(running, report, nowMs);
  const statement = report?.progress?.statement ?? -1;
  if (statement !== running.statement) {
    running.statement = statement;
    running.sinceMs = nowMs;
    running.writtenBefore = NaN;
  }
  if (report && report.residentBytes > MAX_RESIDENT_BYTES) return "memory";
  const { work } = running.request;
  if (work.do === "call" && work.call.level === "read" && spillsTooMuch(running, report, tempBytes)) {
    return "disk";
  }
  // A child that is still starting has begun nothing, however long the start takes on a busy machine.
  const mayMs = statement === -1 ? Math.max(2 * statementMs, SILENT_MS) : statementMs;
  if (nowMs - running.sinceMs >= mayMs) return "timeout";
  // A child that no longer reports its memory is unbounded.
  return silent ? "unexpected" : null;
}
