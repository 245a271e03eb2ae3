// Load of writers that repeat a call under its key until it is answered, while the service under them is being killed.

/** Where the service is now; null while there is none. */
export interface LoadPlace {
  readonly url: string | null;
  readonly token: string;
  readonly path: string;
}

/** Accounts between which money moves, and what each of them starts with. */
export const ACCOUNTS = 20;
export const OPENING = 1000;

/** What the tables hold before the load; every statement leaves one audit row. */
export const TABLES: readonly string[] = [
  "CREATE TABLE entries (id INTEGER PRIMARY KEY, key TEXT NOT NULL)",
  "CREATE TABLE plain (id INTEGER PRIMARY KEY, key TEXT NOT NULL)",
  "CREATE TABLE accounts (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL)",
  "CREATE TABLE moves (key TEXT NOT NULL, source INTEGER NOT NULL, target INTEGER NOT NULL, amount INTEGER NOT NULL)",
  `INSERT INTO accounts SELECT value, ${OPENING} FROM json_each('[${
    Array.from({ length: ACCOUNTS }, (_, id) => id)
  }]')`,
];

/** The same move as a published mutation of several statements, which take what those before have returned. */
export const MOVE_ENDPOINT = {
  slug: "move",
  name: "Move",
  kind: "mutation",
  method: "POST",
  output: "rows_written",
  sql: "UPDATE accounts SET amount = amount - :amount WHERE id = :source RETURNING id AS source; " +
    "UPDATE accounts SET amount = amount + :amount WHERE id = :target RETURNING id AS target; " +
    "INSERT INTO moves VALUES (:key, @source, @target, :amount)",
  input: [
    { name: "key", type: "text", required: true },
    ...["source", "target", "amount"].map((name) => ({ name, type: "integer", required: true })),
  ],
};

interface Call {
  /** `move`: the published mutation. */
  readonly operation: "query" | "batch" | "move";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly isReplay: boolean;
  readonly retryAfter: string | null;
}

/** Statuses after which a caller comes again. */
const AGAIN = [409, 429, 503];
/** What no failure tells: where the engine is and what it said. */
const TELLS = /127\.0\.0\.1|localhost|hrana|tcp|sqld|wal_insert/i;
/** One in so many acknowledged calls is repeated once more, for its bytes. */
const REPEAT_ONE_IN = 6;

export class ReplayLoad {
  /** Keys whose call was acknowledged, by the table in which their row must be. */
  readonly acknowledged = { entries: new Set<string>(), moves: new Set<string>(), plain: new Set<string>() };
  /** Plain inserts without an answer: there or not, but never twice. */
  unsure = 0;
  retries = 0;
  replays = 0;
  /** Answers that nobody should ever get. */
  readonly wrong: string[] = [];
  #stopped = false;
  #next = 0;

  constructor(private readonly place: () => LoadPlace, private readonly withPlans: boolean) {}

  /** Eight connections (nine with plans) until `stop`; each then ends its last call. */
  async run(): Promise<void> {
    const workers = [
      ...Array.from({ length: 3 }, () => this.#loop(() => this.#insert("idempotency-key"))),
      ...Array.from({ length: 3 }, (_, at) => this.#loop(() => this.#move(at === 0))),
      ...Array.from({ length: 2 }, () => this.#loop(() => this.#plain())),
      ...(this.withPlans ? [this.#loop(() => this.#insert("plan-key"))] : []),
    ];
    await Promise.all(workers);
  }

  get acknowledgedCalls(): number {
    const { entries, moves, plain } = this.acknowledged;
    return entries.size + moves.size + plain.size;
  }

  stop(): void {
    this.#stopped = true;
  }

  async #loop(once: () => Promise<void>): Promise<void> {
    while (!this.#stopped) await once();
  }

  async #insert(header: "idempotency-key" | "plan-key"): Promise<void> {
    const key = this.#key();
    const headers = header === "plan-key" ? { "plan-key": key, "plan-step": "1" } : { [header]: key };
    const body = { sql: "INSERT INTO entries (key) VALUES (?) RETURNING id", params: [key] };
    await this.#untilAnswered({ operation: "query", headers, body }, this.acknowledged.entries, key);
  }

  async #move(published: boolean): Promise<void> {
    const key = this.#key();
    const [source, target] = [random(ACCOUNTS), random(ACCOUNTS)];
    const amount = 1 + random(9);
    const statements = [
      { sql: "UPDATE accounts SET amount = amount - ? WHERE id = ?", params: [amount, source] },
      { sql: "UPDATE accounts SET amount = amount + ? WHERE id = ?", params: [amount, target] },
      { sql: "INSERT INTO moves VALUES (?, ?, ?, ?)", params: [key, source, target, amount] },
    ];
    const call: Call = published
      ? {
        operation: "move",
        headers: { "idempotency-key": key.padEnd(16, "-") },
        body: { key, source, target, amount },
      }
      : {
        operation: "batch",
        headers: { "idempotency-key": key },
        body: { statements, transaction: true },
      };
    await this.#untilAnswered(call, this.acknowledged.moves, key);
  }

  async #plain(): Promise<void> {
    const key = this.#key();
    const body = { sql: "INSERT INTO plain (key) VALUES (?)", params: [key] };
    const answer = await this.#send({ operation: "query", headers: {}, body });
    if (answer?.status === 200) this.acknowledged.plain.add(key);
    else this.unsure++;
    if (answer !== null && answer.status !== 200) this.#judge(answer);
    if (answer?.status !== 200) await pause();
  }

  async #untilAnswered(call: Call, acknowledged: Set<string>, key: string): Promise<void> {
    for (;;) {
      const answer = await this.#send(call);
      if (answer?.status === 200) {
        acknowledged.add(key);
        if (answer.isReplay) this.replays++;
        if (random(REPEAT_ONE_IN) === 0) await this.#repeat(call, answer);
        return;
      }
      if (answer !== null && !this.#judge(answer)) return;
      this.retries++;
      await pause();
    }
  }

  /** Once more after it was acknowledged: the same bytes, or no answer. */
  async #repeat(call: Call, first: Answer): Promise<void> {
    const again = await this.#send(call);
    if (again === null || (again.status !== 200 && this.#judge(again))) return;
    if (again.status !== 200) return;
    if (!again.isReplay || again.text !== first.text) this.wrong.push(`${first.text}\n→ ${again.text}`);
    else this.replays++;
  }

  /** True when the call may be sent again. */
  #judge(answer: Answer): boolean {
    const isClear = answer.retryAfter !== null && !TELLS.test(answer.text);
    if (AGAIN.includes(answer.status) && isClear) return true;
    this.wrong.push(`${answer.status}: ${answer.text.slice(0, 200)}`);
    return false;
  }

  /** Null: no answer came. */
  async #send({ operation, headers, body }: Call): Promise<Answer | null> {
    const { url, token, path } = this.place();
    if (url === null) return null;
    try {
      const isPublished = operation === "move";
      const place = isPublished ? path.replace("/v1/db/", "/p/") : path;
      const response = await fetch(`${url}${place}/${operation}`, {
        method: "POST",
        headers: { ...headers, ...(isPublished ? {} : { authorization: `Bearer ${token}` }) },
        body: JSON.stringify(body),
      });
      const isReplay = ["idempotency-replayed", "plan-replayed"].some((name) => response.headers.has(name));
      const retryAfter = response.headers.get("retry-after");
      return { status: response.status, text: await response.text(), isReplay, retryAfter };
    } catch (error) {
      // The connection was lost: also in the middle of an answer.
      if (error instanceof TypeError) return null;
      throw error;
    }
  }

  #key(): string {
    return `k${++this.#next}`;
  }
}

function random(below: number): number {
  return Math.floor(Math.random() * below);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10 + random(30)));
}
