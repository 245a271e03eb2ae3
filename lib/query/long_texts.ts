// Reads long texts in a thread of their own: the grammar takes half a second for a million characters, in which the thread
// that serves would answer nobody.
import { readSyntax, type SyntaxResult } from "../sql/syntax.ts";

/** Characters from which a text, or the texts of a call, are long: 2 ms for the grammar. */
export const LONG_TEXT = 5_000;
/** Milliseconds without a long text after which the thread ends. */
const IDLE_MS = 60_000;

interface WaitingText {
  readonly sql: string;
  readonly resolve: (result: SyntaxResult) => void;
}

/** The one thread of a process, while it is needed. */
export class LongTexts {
  /** Null: none is needed. */
  #thread: Worker | null = null;
  #reading: WaitingText | null = null;
  readonly #waiting: WaitingText[] = [];
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  /** As `readSyntax`. Never rejects. */
  read(sql: string): Promise<SyntaxResult> {
    return new Promise((resolve) => {
      this.#waiting.push({ sql, resolve });
      if (this.#reading === null) this.#next();
    });
  }

  /** Ends the thread; nothing may wait any more. */
  close(): void {
    clearTimeout(this.#idleTimer);
    this.#thread?.terminate();
    this.#thread = null;
  }

  #next(): void {
    clearTimeout(this.#idleTimer);
    this.#reading = this.#shortest();
    if (this.#reading === null) {
      this.#idleTimer = setTimeout(() => this.close(), IDLE_MS);
      Deno.unrefTimer(this.#idleTimer);
      return;
    }
    this.#thread ??= this.#start();
    this.#thread.postMessage(this.#reading.sql);
  }

  /** Taken out of those that wait: who sends long texts keeps a shorter one waiting for one of them at most. */
  #shortest(): WaitingText | null {
    let shortest = 0;
    for (const [at, { sql }] of this.#waiting.entries()) {
      if (sql.length < (this.#waiting[shortest]?.sql.length ?? 0)) shortest = at;
    }
    return this.#waiting.splice(shortest, 1)[0] ?? null;
  }

  #start(): Worker {
    const thread = new Worker(new URL("./syntax_thread.ts", import.meta.url), { type: "module" });
    thread.onmessage = ({ data }: MessageEvent<SyntaxResult>) => this.#settle(data);
    // Its program may have been replaced on the disk; the next text starts another thread.
    thread.onerror = (event) => {
      event.preventDefault();
      this.close();
      if (this.#reading !== null) this.#settle(readSyntax(this.#reading.sql));
    };
    return thread;
  }

  #settle(result: SyntaxResult): void {
    this.#reading?.resolve(result);
    this.#next();
  }
}
