// A thread that compiles what takes long. It can be ended, and nobody waits for it but those who have asked it.
import { AppError } from "../../../core/errors.ts";
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

interface Waiting {
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
  /** By namespace and then by database, so that whoever asks much waits for others and not they for it. */
  readonly #waiting = new Map<string, Map<string, Waiting[]>>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `program`: of the thread. */
  constructor(
    private readonly mostMs = MOST_MS,
    private readonly program = new URL("./compiling_thread.ts", import.meta.url),
  ) {}

  /**
   * Asks for one namespace after the other, and in it for one database after the other. `here` answers in this thread, where no other can be had. Null: it takes too long, or
   * too much memory. Throws what the engine throws.
   */
  ask(asker: GateAsker, sent: SentRequest, here: () => unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { namespaceId, databaseId } = asker;
      const databases = this.#waiting.get(namespaceId) ?? new Map<string, Waiting[]>();
      const others = databases.get(databaseId) ?? [];
      others.push({ sent, here, resolve, reject });
      this.#waiting.set(namespaceId, databases.set(databaseId, others));
      if (this.#working === null) this.#next();
    });
  }

  close(): void {
    this.#end();
    const waiting = [...this.#waiting.values()].flatMap((databases) => [...databases.values()].flat());
    const left = [this.#working, ...waiting];
    this.#working = null;
    this.#waiting.clear();
    for (const one of left) one?.reject(new AppError("store_unavailable"));
  }

  #next(): void {
    clearTimeout(this.#timer);
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

  /** One of each namespace in turn, and in it one of each database. */
  #take(): Waiting | null {
    const namespace = first(this.#waiting);
    const database = namespace && first(namespace[1]);
    if (!database) return null;
    const [[namespaceId, databases], [databaseId, waiting]] = [namespace, database];
    const next = waiting.shift() ?? null;
    // Set again, it is the last.
    databases.delete(databaseId);
    if (waiting.length > 0) databases.set(databaseId, waiting);
    this.#waiting.delete(namespaceId);
    if (databases.size > 0) this.#waiting.set(namespaceId, databases);
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
    const working = this.#working;
    this.#working = null;
    if (reply.is === "answer") working?.resolve(reply.answer);
    else working?.reject(new Error(reply.message));
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
    this.#working = null;
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

function first<V>(map: ReadonlyMap<string, V>): readonly [string, V] | null {
  for (const entry of map) return entry;
  return null;
}
