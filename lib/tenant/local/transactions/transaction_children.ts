// The engine children that hold callers' open transactions: a small pool of their own, so that nobody else's statements
// wait behind one. A child has one frame at a time, whichever of its transactions it is for.
import { AppError } from "../../../core/errors.ts";
import { ChildStarts, type ChildStartsOptions } from "../pool/child_starts.ts";
import { EngineChild } from "../pool/engine_child.ts";
import type { EngineCounts } from "../pool/engine_counts.ts";
import type { ReplyFrame } from "../frames/reply_frames.ts";
import type { ParentTie } from "../../jail/start_jailed.ts";
import { placeFor } from "./place_transaction.ts";
import {
  ChildEnded,
  type Ending,
  newPlace,
  overdue,
  type Place,
  type PlaceLimits,
  type SeatWork,
  sendNext,
  type WaitingWork,
} from "./transaction_place.ts";

/** Transactions that one child holds at most: each has a connection, which takes some 2 MB. */
const MAX_SEATS = 32;
/** Milliseconds between two looks at the children. */
const WATCH_MS = 25;
/** Milliseconds after which a child without transactions is ended. */
const IDLE_MS = 30_000;

/** What the pool needs of the store. */
export interface TransactionChildrenOptions extends PlaceLimits, ChildStartsOptions {
  readonly tenantsDirectory: string;
  readonly parentTie: ParentTie;
  readonly environment: Readonly<Record<string, string>>;
  readonly maxChildren: number;
  readonly counts: EngineCounts;
  /** So many progress files, the first ones, belong to other children. */
  readonly otherFiles: number;
}

/** The place of one transaction in a child. */
export interface Seat {
  /** Whether the child holds no other transaction. */
  readonly alone: boolean;
  /** Sends work; it waits until the child is free. Errors: `ChildEnded`. */
  send(work: SeatWork): Promise<ReplyFrame>;
  /** Ends the child and with it the statement that runs. */
  kill(): void;
  /** Gives the place up; the transaction has ended. */
  leave(): void;
}

/** The pool. Children start when they are needed. */
export class TransactionChildren {
  readonly places: Place[] = [];
  readonly #ends = new Set<Promise<void>>();
  readonly #starts: ChildStarts;
  #frame = 0;
  #seat = 0;
  #timer: ReturnType<typeof setInterval> | null = null;
  #stopping = false;

  constructor(private readonly options: TransactionChildrenOptions) {
    this.#starts = new ChildStarts(options);
  }

  /** Finds a place for a transaction of a namespace. Errors: `transaction_limit`, `store_unavailable`. */
  take(namespaceId: string): Seat {
    const { maxChildren: maxPlaces } = this.options;
    const start = () => this.#start();
    const place = this.#stopping
      ? null
      : placeFor(this.places, namespaceId, { maxPlaces, maxSeats: MAX_SEATS, start });
    if (place === null) {
      throw new AppError(this.places.length === 0 ? "store_unavailable" : "transaction_limit");
    }
    const number = ++this.#seat;
    place.seats.set(number, namespaceId);
    return {
      get alone() {
        return place.seats.size === 1;
      },
      send: (work) => this.#send(place, { ...work, number }),
      kill: () => this.#kill(place, "gone"),
      leave: () => {
        place.seats.delete(number);
        place.idleSinceMs = this.#now();
      },
    };
  }

  /**
   * Closes what waits for the next transaction in a database. Its transactions have ended; a child that had none of them may
   * run somebody else's statement for long.
   */
  async closeEverywhere(databaseId: string): Promise<void> {
    await Promise.all(
      this.places.filter(({ worked }) => worked.has(databaseId)).map((place) =>
        new Promise<void>((closed) => {
          place.toClose.push({ databaseId, closed });
          sendNext(place, this.#now());
        })
      ),
    );
  }

  /** Ends every child. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    for (const { child, running } of this.places) {
      if (running) child.kill();
      void child.finish();
    }
    await Promise.all(this.#ends);
  }

  /** Bytes that the children hold. */
  get heldBytes(): number {
    return this.places.reduce((sum, { child }) => sum + (child.report(0)?.residentBytes || 0), 0);
  }

  #start(): Place | null {
    const others = Array.from({ length: this.options.otherFiles }, (_, at) => at + 1);
    const used = [...others, ...this.places.map(({ number }) => number)];
    return this.#starts.start(used, ({ path, number }) => {
      const child: EngineChild = new EngineChild({
        ...this.options,
        // Transactions have connections of their own, beside the files that a child keeps open.
        keepBytes: 0,
        progressPath: path,
        mayServe: () => this.#starts.mayServe(),
        onReply: (frame) => this.#onReply(place, frame),
        onEnd: () => this.#onEnd(place),
      });
      const place = newPlace(child, number, this.#now());
      this.places.push(place);
      this.#ends.add(child.ended);
      void child.ended.finally(() => this.#ends.delete(child.ended));
      this.#timer ??= setInterval(() => this.#watch(), WATCH_MS);
      return place;
    });
  }

  #send(place: Place, request: WaitingWork["request"]): Promise<ReplyFrame> {
    if (!this.places.includes(place)) return Promise.reject(new ChildEnded("unexpected"));
    this.#frame = (this.#frame + 1) >>> 0;
    return new Promise((resolve, reject) => {
      place.waiting.push({ request, frame: this.#frame, resolve, reject });
      sendNext(place, this.#now());
    });
  }

  #onReply(place: Place, frame: ReplyFrame): void {
    this.#starts.worked();
    const { running, closing } = place;
    place.running = null;
    place.closing = null;
    closing?.closed();
    running?.resolve(frame);
    sendNext(place, this.#now());
  }

  #onEnd(place: Place): void {
    this.places.splice(this.places.indexOf(place), 1);
    const { running, waiting, toClose, closing, killed, child } = place;
    const ending = killed === null || killed === "idle" ? "unexpected" : killed;
    if (killed === null && !child.serves) this.#starts.failed("ended");
    else if (killed !== "idle" && !this.#stopping) {
      this.options.counts.ended(ending, "transaction");
    }
    closing?.closed();
    for (const { closed } of toClose.splice(0)) closed();
    running?.reject(new ChildEnded(ending));
    for (const one of waiting.splice(0)) one.reject(new ChildEnded("unexpected"));
  }

  #kill(place: Place, ending: Ending): void {
    place.killed ??= ending;
    place.child.kill();
  }

  /** Ends what takes too long or too much, and after a while children that nobody needs. */
  #watch(): void {
    const nowMs = this.#now();
    for (const [place, ending] of overdue(this.places, this.options, nowMs)) this.#kill(place, ending);
    for (const place of this.places) {
      const isIdle = place.killed === null && place.seats.size === 0 && place.running === null;
      if (!isIdle || nowMs - place.idleSinceMs < IDLE_MS) continue;
      place.killed = "idle";
      void place.child.finish();
    }
    if (this.places.length > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #now(): number {
    return this.options.clock.monotonicMs();
  }
}
