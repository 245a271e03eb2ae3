// Changes as a stream of server-sent events (html.spec.whatwg.org, "Server-sent events"). It is read from the database as
// the client takes it: of a client that does not read, nothing but its place is kept.
import { BEARER_CHECK_MS, STREAM_COMMENT_MS } from "../../core/limits_of_changes.ts";
import type { ChangePlace } from "../../sql/service/change_rows.ts";
import { concerns, idOfPlace, type PlacedChange } from "./change.ts";
import type { Follower } from "./change_feeds.ts";
import type { ChangesContext } from "./changes_context.ts";
import { payForRequest, requireSince, startingPlace, wantedTables } from "./poll_changes.ts";
import { newestPlace } from "./read_changes.ts";

/** Milliseconds after which a client connects again. */
const RETRY_MS = 2000;

/** What a stream begins with. */
export interface StreamInput {
  /** As a poll has it; of a client that connects again, the last id that it has got. */
  readonly since: string | null;
  readonly tables: readonly string[] | null;
  /** Whether the bearer still reaches the same database. May throw. */
  readonly isAllowed: () => boolean | Promise<boolean>;
  /** Called whenever the client has taken what was sent. */
  readonly taken: () => void;
}

/** Costs one request. Errors: `validation_failed`, `follower_limit`, those of a read. */
export async function streamChanges(
  ctx: ChangesContext,
  input: StreamInput,
): Promise<ReadableStream<Uint8Array>> {
  const wanted = wantedTables(input.tables);
  requireSince(input.since);
  const follower = ctx.feeds.follow(ctx.target);
  try {
    await payForRequest(ctx);
    const place = await startingPlace(ctx, input.since) ?? await placeWithoutChanges(ctx);
    const events = new ChangeEvents({
      follower,
      input,
      place,
      wanted,
      nowMs: () => ctx.query.clock.monotonicMs(),
    });
    return events.stream;
  } catch (error) {
    follower.leave();
    throw error;
  }
}

/** The beginning where nothing is kept that a stream could begin with. Null: there is. */
async function placeWithoutChanges({ query, target }: ChangesContext): Promise<ChangePlace | null> {
  const newest = await newestPlace(query, target);
  return newest.seq === 0 ? newest : null;
}

interface EventParts {
  readonly follower: Follower;
  readonly input: StreamInput;
  readonly place: ChangePlace | null;
  readonly wanted: ReadonlySet<string> | null;
  readonly nowMs: () => number;
}

class ChangeEvents {
  #place: ChangePlace | null;
  #checkMs: number;
  #silentMs: number;
  readonly #gone = new AbortController();

  constructor(private readonly parts: EventParts) {
    this.#place = parts.place;
    this.#checkMs = parts.nowMs() + BEARER_CHECK_MS;
    this.#silentMs = parts.nowMs() + STREAM_COMMENT_MS;
  }

  /**
   * Bytes come with the first pull, so that the client knows at once that it is connected. An id without data is no event, and
   * is sent by a client that connects again: so one to which nothing was told yet learns of a reset too.
   */
  get stream(): ReadableStream<Uint8Array> {
    const id = this.#place === null ? "" : `id: ${idOfPlace(this.#place)}\n`;
    let first: string | null = `retry: ${RETRY_MS}\n${id}\n`;
    const encoder = new TextEncoder();
    return new ReadableStream({
      pull: async (controller) => {
        const text = first ?? await this.#next();
        first = null;
        this.parts.input.taken();
        if (text !== null) return controller.enqueue(encoder.encode(text));
        this.#end();
        controller.close();
      },
      cancel: () => this.#end(),
    });
  }

  #end(): void {
    this.#gone.abort();
    this.parts.follower.leave();
  }

  /** The next text; null: the stream ends. */
  async #next(): Promise<string | null> {
    const { follower: { changes }, input, nowMs, wanted } = this.parts;
    const { signal } = this.#gone;
    try {
      for (;;) {
        const waitMs = Math.min(this.#checkMs, this.#silentMs) - nowMs();
        const found = await changes.next(this.#place, { waitMs, signal });
        if (changes.isClosed || signal.aborted) return null;
        if (nowMs() >= this.#checkMs) {
          if (!await input.isAllowed()) return null;
          this.#checkMs = nowMs() + BEARER_CHECK_MS;
        }
        this.#place = found.at(-1)?.place ?? this.#place;
        const text = found.filter((one) => concerns(one, wanted)).map(eventText).join("");
        if (text === "" && nowMs() < this.#silentMs) continue;
        this.#silentMs = nowMs() + STREAM_COMMENT_MS;
        return text === "" ? ": \n\n" : text;
      }
    } catch {
      // The client connects again, and then reads what has failed.
      return null;
    }
  }
}

function eventText({ change }: PlacedChange): string {
  const event = change.kinds.includes("reset") ? "reset" : "change";
  return `id: ${change.id}\nevent: ${event}\ndata: ${JSON.stringify(change)}\n\n`;
}
