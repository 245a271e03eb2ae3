// Writes over HTTP to a database that is archived, and whether moments that are brought back have what they must.
import { assert } from "@std/assert";
import type { RunningService } from "../testing/start_service.ts";

interface Write {
  readonly id: number;
  readonly sentMs: number;
  /** Null: nobody knows whether it was made. */
  answeredMs: number | null;
}

/** Rows that are numbered as they are sent. */
export class ArchivedWrites {
  readonly #writes: Write[] = [];
  #token = "";
  #url = "";
  #restored = 0;
  #answered = 0;
  #wake: () => void = () => {};

  /** `rowBytes`: of each row, random; `againBytes`: of what each write puts in the place of what the one before has put there. */
  constructor(private readonly rowBytes: number, private readonly againBytes = 0) {}

  /** Goes on with this service, whose first start has printed a token. */
  on({ url, output }: Pick<RunningService, "url" | "output">): void {
    this.#token = /cub_live_\w+/.exec(output())?.[0] ?? this.#token;
    this.#url = `${url}/v1/db/demo`;
  }

  /** Writes one row after the other until then; what fails is not known to have been made. */
  async until(end: Promise<void>): Promise<void> {
    const state = { over: false };
    end.then(() => state.over = true);
    while (!state.over) {
      const write: Write = { id: this.#writes.length + 1, sentMs: Date.now(), answeredMs: null };
      if (write.id === 1) await this.#begin();
      this.#writes.push(write);
      const sql = `INSERT INTO w VALUES (${write.id}, randomblob(${this.rowBytes}))`;
      const { ok } = await this.#ask("demo/query", { sql }).catch(() => ({ ok: false, text: "" }));
      if (!ok) continue;
      write.answeredMs = Date.now();
      this.#answered++;
      this.#wake();
    }
  }

  async #begin(): Promise<void> {
    await this.#ask("demo/query", { sql: "CREATE TABLE w (id INTEGER PRIMARY KEY, a)" });
    if (this.againBytes === 0) return;
    const again = `UPDATE again SET a = randomblob(${this.againBytes})`;
    for (
      const sql of [
        "CREATE TABLE again AS SELECT NULL AS a",
        `CREATE TRIGGER wa AFTER INSERT ON w BEGIN ${again}; END`,
      ]
    ) {
      const made = await this.#ask("demo/query", { sql });
      assert(made.ok, made.text);
    }
  }

  /** How many were answered. */
  get count(): number {
    return this.#answered;
  }

  /** Waits for so many more answers. */
  async answers(count: number): Promise<void> {
    const enough = this.#answered + count;
    while (this.#answered < enough) await new Promise<void>((resolve) => this.#wake = resolve);
  }

  /** Moments between the second answer and now. */
  randomMoments(count: number): number[] {
    const fromMs = this.#writes.filter(({ answeredMs }) => answeredMs !== null)[1]?.answeredMs ?? 0;
    return Array.from({ length: count }, () => fromMs + Math.floor(Math.random() * (Date.now() - fromMs)));
  }

  /** Brings a moment back and compares it: all that was answered by then, nothing that was sent later. */
  async check(atMs: number): Promise<void> {
    const into = `moment-${++this.#restored}`;
    const restored = await this.#ask("demo/restore", { at: new Date(atMs).toISOString(), into });
    assert(restored.ok, restored.text);
    const read = await this.#ask(`${into}/query`, { sql: "SELECT group_concat(id) FROM w" });
    const [[text] = []] = JSON.parse(read.text).data.rows;
    const ids = new Set(String(text).split(",").map(Number));
    for (const { id, sentMs, answeredMs } of this.#writes) {
      if (answeredMs !== null && answeredMs < atMs) {
        assert(ids.has(id), `${id} was answered at ${answeredMs}, before ${atMs}`);
      }
      if (sentMs > atMs) assert(!ids.has(id), `${id} was sent after ${atMs}`);
    }
  }

  async #ask(path: string, body: unknown): Promise<{ readonly ok: boolean; readonly text: string }> {
    const answer = await fetch(`${this.#url}/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { ok: answer.ok, text: await answer.text() };
  }
}
