// A thread that compiles what takes long. It can be ended, and nobody waits for it but those who have asked it.
import type { Clock } from "../../../core/clock.ts";
import { AppError } from "../../../core/errors.ts";
import { SlowTurns, type TurnCaller } from "../../slow_turns.ts";
import type { SentRequest, ThreadReply } from "./gate_request.ts";

/** Milliseconds for one request, the start of the thread included. */
const MOST_MS = 15_000;
/** Milliseconds without a request after which the thread ends. */
const IDLE_MS = 60_000;

/** Who asks: a database, and whose it is. */
export interface GateAsker {
  /** May get known later: until then the database stands for itself. */
  namespaceId: string;
  readonly databaseId: string;
}

interface Waiting extends TurnCaller {
  readonly sent: SentRequest;
  /** Answers in this thread, however long it takes. */
  readonly here: () => unknown;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The one thread of a store, while it is needed. */
export class GateThread {
  /** Null: none is needed. */
  #thread: Worker | null = null;
  /** Whether its program has run: without it nothing could ever be asked. */
  #isReady = false;
  #working: Waiting | null = null;
  /** By database; who was served last comes last. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** How long it has worked for each namespace and database, so that whoever asks much waits for others and not they for it. */
  readonly #turns = new SlowTurns();
  #beganMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `program`: of the thread. */
  constructor(
    private readonly clock: Pick<Clock, "monotonicMs">,
    private readonly mostMs = MOST_MS,
    private readonly program = new URL("./compiling_thread.ts", import.meta.url),
  ) {}

  /**
   * Asks for the namespace for which the thread has worked least, and in it for the database for which it has. `here` answers in
   * this thread, where no other can be had. Null: it takes too long, or too much memory. Throws what the engine throws.
   */
  ask(asker: GateAsker, sent: SentRequest, here: () => unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { namespaceId, databaseId } = asker;
      const others = this.#waiting.get(databaseId) ?? [];
      others.push({ namespaceId, key: databaseId, sent, here, resolve, reject });
      this.#waiting.set(databaseId, others);
      if (this.#working === null) this.#next();
    });
  }

  close(): void {
    this.#end();
    const left = [this.#working, ...[...this.#waiting.values()].flat()];
    this.#working = null;
    this.#waiting.clear();
    for (const one of left) one?.reject(new AppError("store_unavailable"));
  }

  #next(): void {
    clearTimeout(this.#timer);
    const nowMs = this.clock.monotonicMs();
    if (this.#working !== null) this.#turns.add(this.#working, nowMs - this.#beganMs, nowMs);
    this.#beganMs = nowMs;
    this.#working = this.#take();
    if (this.#working === null) {
      this.#timer = setTimeout(() => this.#end(), IDLE_MS);
      Deno.unrefTimer(this.#timer);
      return;
    }
    this.#timer = setTimeout(() => this.#drop(() => null), this.mostMs);
    try {
      this.#thread ??= this.#start();
      this.#thread.postMessage(this.#working.sent);
    } catch {
      // There are no threads on some hosts.
      this.#lose();
    }
  }

  #take(): Waiting | null {
    const next = this.#turns.next([...this.#waiting.values()].flatMap((waiting) => waiting.slice(0, 1)));
    if (next === null) return null;
    const others = this.#waiting.get(next.key) ?? [];
    others.shift();
    // Set again, it is the last.
    this.#waiting.delete(next.key);
    if (others.length > 0) this.#waiting.set(next.key, others);
    return next;
  }

  #start(): Worker {
    this.#isReady = false;
    const thread = new Worker(this.program, { type: "module" });
    thread.onmessage = ({ data }: MessageEvent<ThreadReply>) => {
      if (thread === this.#thread) this.#hear(data);
    };
    thread.onerror = (event) => {
      event.preventDefault();
      if (thread === this.#thread) this.#lose();
    };
    return thread;
  }

  #hear(reply: ThreadReply): void {
    if (reply.is === "ready") {
      this.#isReady = true;
      return;
    }
    if (reply.usedUp) this.#end();
    if (reply.is === "answer") this.#working?.resolve(reply.answer);
    else this.#working?.reject(new Error(reply.message));
    this.#next();
  }

  /** It has ended from within: by what it was asked, or because its program is gone from the disk. */
  #lose(): void {
    this.#drop(this.#isReady ? () => null : ({ here }) => here());
  }

  /** Ends the thread, and answers what it works on. */
  #drop(answer: (working: Waiting) => unknown): void {
    const working = this.#working;
    this.#end();
    try {
      working?.resolve(answer(working));
    } catch (error) {
      working?.reject(error);
    }
    this.#next();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#thread?.terminate();
    this.#thread = null;
  }
}
