// Watches, while a call runs, whether its caller may still make it.
import { AppError, type ErrorCode } from "../core/errors.ts";
import type { QueryCall, QueryContext } from "./query_call.ts";

/** Milliseconds between two looks at the caller. */
const LOOK_MS = 250;

/** Of a token, of a person at the console, of an end user at a published endpoint. */
const REVOKED: ReadonlySet<ErrorCode> = new Set(["invalid_bearer", "session_ended", "session_invalid"]);

/**
 * Looks only once somebody asks for its signal: the embedded store does that for calls that take long. It has no property that is
 * assigned a function: V8 (15) makes such functions among its old objects, where each kept its whole call until those are collected.
 */
export class CallerWatch {
  /** Why the caller may not make the call any more. */
  revoked: AppError | null = null;
  #signal: AbortSignal | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(private readonly ctx: Pick<QueryContext, "readmit">, private readonly call: QueryCall) {}

  /** Aborted when nobody waits for the call any more, or its caller may not make it any more. */
  signal(): AbortSignal {
    if (this.#signal !== null) return this.#signal;
    const revoking = new AbortController();
    const left = this.call.signal();
    this.#lookLater(revoking);
    return this.#signal = left === null ? revoking.signal : AbortSignal.any([left, revoking.signal]);
  }

  /** To be called when the call has ended. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #lookLater(revoking: AbortController): void {
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#look(revoking), LOOK_MS);
  }

  async #look(revoking: AbortController): Promise<void> {
    try {
      await this.ctx.readmit(this.call);
    } catch (error) {
      // Where KV does not answer, nobody is revoked.
      if (error instanceof AppError && REVOKED.has(error.code)) {
        this.revoked = error;
        return revoking.abort();
      }
    }
    this.#lookLater(revoking);
  }
}
