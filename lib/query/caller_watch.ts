// Watches, while a call runs, whether its caller may still make it.
import { AppError, type ErrorCode } from "../core/errors.ts";
import type { MadeCall } from "../access/readmit_caller.ts";
import type { QueryCall, QueryContext } from "./query_call.ts";

/** Milliseconds between two looks at the caller. */
const LOOK_MS = 250;

/** Of a token, of a person at the console, of an end user at a published endpoint. */
const REVOKED: ReadonlySet<ErrorCode> = new Set(["invalid_bearer", "session_ended", "session_invalid"]);

/** What of a call is watched. */
type WatchedCall = MadeCall & Pick<QueryCall, "signal">;

/**
 * Looks under way, by whose calls they are about: all calls of one caller share one, else a hundred slow reads of one token
 * would ask KV four hundred times a second for one record, and everybody's requests would wait behind them.
 */
const looks = new WeakMap<QueryContext["readmit"], Map<string, Promise<void>>>();

/** Errors: those of `readmit`. */
function look({ readmit }: Pick<QueryContext, "readmit">, call: MadeCall): Promise<void> {
  const underWay = looks.get(readmit) ?? new Map<string, Promise<void>>();
  looks.set(readmit, underWay);
  const caller = `${call.target.namespaceId} ${call.tokenId}`;
  const shared = underWay.get(caller) ?? readmit(call).finally(() => underWay.delete(caller));
  underWay.set(caller, shared);
  return shared;
}

/**
 * Looks only once somebody asks for its signal, or some time later: stores want to know of calls that take long. It has no property
 * that is assigned a function: V8 (15) makes such functions among its old objects, where each kept its whole call until those are collected.
 */
export class CallerWatch {
  /** Why the caller may not make the call any more. */
  revoked: AppError | null = null;
  #own: AbortController | null = null;
  /** Says that nobody waits any more; null: it is not listened to. */
  #left: AbortSignal | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looks = false;
  #isOver = false;

  constructor(private readonly ctx: Pick<QueryContext, "readmit">, private readonly call: WatchedCall) {}

  /**
   * Aborted when nobody waits for the call any more, or its caller may not make it any more. `afterMs`: milliseconds from now in
   * which neither is looked at, because most calls have ended then.
   */
  signal(afterMs = 0): AbortSignal {
    const own = this.#own ??= new AbortController();
    if (afterMs === 0) this.#listen(own, LOOK_MS);
    else if (!this.#isOver) this.#timer ??= setTimeout(() => this.#listen(own, LOOK_MS - afterMs), afterMs);
    return own.signal;
  }

  /** To be called when the call has ended. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#left?.removeEventListener("abort", this);
  }

  /** Of the signal that is listened to. */
  handleEvent(): void {
    this.#own?.abort();
  }

  /** `lookMs`: milliseconds until the caller is first looked at. */
  #listen(own: AbortController, lookMs: number): void {
    if (this.#looks) return;
    this.#looks = true;
    clearTimeout(this.#timer);
    const left = this.call.signal();
    if (left?.aborted) return own.abort();
    if (this.#isOver) return;
    this.#left = left;
    left?.addEventListener("abort", this);
    this.#lookLater(own, lookMs);
  }

  #lookLater(own: AbortController, ms: number): void {
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#look(own), ms);
  }

  async #look(own: AbortController): Promise<void> {
    try {
      await look(this.ctx, this.call);
    } catch (error) {
      // Where KV does not answer, nobody is revoked.
      if (error instanceof AppError && REVOKED.has(error.code)) {
        this.revoked = error;
        return own.abort();
      }
    }
    this.#lookLater(own, LOOK_MS);
  }
}
