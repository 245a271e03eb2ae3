// Linearizability, run by hand: `deno run -A tests/faults/linear.ts --seconds 60`. Six readers look one row up by its key while
// one writer changes it in every way there is; in the second half engine children are killed. Ends with code 1 on any loss.
import { killChildren } from "../testing/engine_children.ts";
import { print } from "../testing/print.ts";
import { type ServiceWorld, serviceWorld } from "../testing/service_world.ts";
import { pause } from "../../lib/core/pause.ts";

/** What the row may hold from when the change was sent until the next one was acknowledged. */
interface State {
  /** When it was acknowledged, or known to be there; null: it is under way. */
  untilKnownMs: number | null;
  /** One, or two after a change of which nobody knows whether it was made. */
  values: readonly number[];
}

interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

const READERS = 6;
/** How often a reader sends one text before it takes another: looked up in the service only when it comes again. */
const REPEATS = 20;
/** Snapshots that may be restored. */
const SNAPSHOTS = 20;
/** Milliseconds between two kills, at most. */
const KILL_EVERY_MS = 4_000;
/** What may be said to whoever comes while an engine child dies or a database is being replaced. */
const BUSY = [429, 503];
/** Of one table, so that a look-up that remembers where a column stood reads another. */
const TABLES = [
  "(id INTEGER PRIMARY KEY, a INT, pad TEXT)",
  "(pad TEXT, id INTEGER PRIMARY KEY, a INT)",
  "(id INTEGER PRIMARY KEY, pad TEXT, a INT)",
  "(id INT PRIMARY KEY, a INT, pad TEXT) WITHOUT ROWID",
] as const;
const TEXTS = [
  "SELECT a FROM t WHERE id = ?",
  "SELECT a AS x, pad FROM t WHERE id = ?",
  "SELECT * FROM t WHERE id = ?",
] as const;

const oneOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] ?? fail();

class Register {
  readonly wrong: string[] = [];
  readonly #counts = { reads: 0, busy: 0, unknown: 0, kills: 0, changes: {} as Record<string, number> };
  readonly #states: State[] = [];
  readonly #snapshots: { label: string; value: number }[] = [];
  #last = 0;

  constructor(private readonly world: ServiceWorld) {}

  async run(seconds: number): Promise<object> {
    for (const sql of [`CREATE TABLE t ${TABLES[0]}`, "INSERT INTO t VALUES (1, 0, '')"]) {
      if ((await this.#query(sql)).status !== 200) throw new Error(`${sql} failed`);
    }
    const startMs = performance.now();
    this.#states.push({ untilKnownMs: startMs, values: [0] });
    const endMs = startMs + seconds * 1000;
    const readers = Array.from({ length: READERS }, () => this.#read(endMs));
    await Promise.all([this.#write(endMs), this.#kill(startMs + seconds * 500, endMs), ...readers]);
    const whole = await this.#untilTold("PRAGMA integrity_check");
    if (whole !== "ok") this.wrong.push(`integrity_check: ${whole}`);
    return this.#counts;
  }

  async #read(endMs: number): Promise<void> {
    while (performance.now() < endMs) {
      const sql = oneOf(TEXTS);
      for (let times = 0; times < REPEATS; times++) {
        const startMs = performance.now();
        const { status, body } = await this.#query(sql, [1]);
        this.#counts.reads++;
        if (status === 200) this.#judge(sql, body.data, startMs);
        else this.#refused(sql, status, body);
      }
    }
  }

  /** Right is what was there at any moment between the question and the answer. */
  #judge(sql: string, data: { columns: string[]; rows: unknown[][] }, startMs: number): void {
    const [row = []] = data.rows;
    const value = row[Math.max(0, data.columns.indexOf("a"))];
    const first = this.#states.findLastIndex(({ untilKnownMs }) => (untilKnownMs ?? Infinity) <= startMs);
    const right = this.#states.slice(first).flatMap(({ values }) => values);
    if (row.length !== data.columns.length || !right.some((one) => one === value)) {
      this.wrong.push(`${sql}: ${JSON.stringify(data)} where ${[...new Set(right)]} may be`);
    }
  }

  #refused(what: string, status: number, body: Answer["body"]): void {
    if (BUSY.includes(status)) this.#counts.busy++;
    else this.wrong.push(`${what}: ${status} ${body.code} ${body.error}`);
  }

  async #write(endMs: number): Promise<void> {
    while (performance.now() < endMs) {
      const value = ++this.#last;
      const dice = Math.random();
      if (dice < 0.5) {
        await this.#change("update", value, () => this.#query("UPDATE t SET a = ? WHERE id = 1", [value]));
      } else if (dice < 0.6) await this.#change("transaction", value, () => this.#transaction(value));
      else if (dice < 0.7) await this.#change("swap", value, () => this.#swap(value));
      else if (dice < 0.78) await this.#snapshot(value);
      else if (dice < 0.88) await this.#restore();
      else if (dice < 0.94) await this.#change("import", value, () => this.#import(value));
      else await pause(200 * Math.random());
      await pause(oneOf([0, 0, 10, 50]));
    }
  }

  async #change(name: string, value: number, make: () => Promise<Answer>): Promise<void> {
    const before = this.#now;
    const state: State = { untilKnownMs: null, values: [value] };
    this.#states.push(state);
    const { status, body } = await make();
    this.#counts.changes[name] = (this.#counts.changes[name] ?? 0) + 1;
    if (status !== 200) {
      this.#refused(name, status, body);
      this.#counts.unknown++;
      state.values = [before, value];
    }
    state.untilKnownMs = performance.now();
    if (status === 200) return;
    // One answer tells which of the two it is, for good.
    const found = await this.#untilTold("SELECT a FROM t WHERE id = 1 AND 1 = 1");
    if (found !== before && found !== value) {
      this.wrong.push(`after a ${name} that failed: ${found}, neither ${before} nor ${value}`);
    }
    const knownMs = performance.now();
    this.#states.push({ untilKnownMs: knownMs, values: [Number(found)] });
  }

  /** What the row holds when no change is under way. */
  get #now(): number {
    return this.#states.at(-1)?.values[0] ?? fail();
  }

  async #transaction(value: number): Promise<Answer> {
    const begun = await this.#pipeline(["BEGIN", `UPDATE t SET a = ${value} WHERE id = 1`], null);
    return begun.status === 200 ? await this.#pipeline(["COMMIT"], begun.body.baton) : begun;
  }

  /** 503 for a stream that has ended with its child. */
  async #pipeline(texts: readonly string[], baton: string | null): Promise<Answer> {
    const requests = texts.map((sql) => ({ type: "execute", stmt: { sql } }));
    const { status, body } = await this.#send(
      "/hrana/acme/main/v2/pipeline",
      JSON.stringify({ baton, requests }),
    );
    if (status !== 200) return { status: baton === null ? status : 503, body };
    return { status: body.results.every((one: { type: string }) => one.type === "ok") ? 200 : 503, body };
  }

  async #swap(value: number): Promise<Answer> {
    const statements = [
      { sql: "DROP TABLE t" },
      { sql: `CREATE TABLE t ${oneOf(TABLES)}` },
      { sql: "INSERT INTO t (id, a, pad) VALUES (1, ?, 'p')", params: [value] },
    ];
    const body = JSON.stringify({ transaction: true, statements });
    return await this.#send("/v1/db/acme/main/batch", body, { "x-service-no-snapshot": "1" });
  }

  async #snapshot(number: number): Promise<void> {
    const label = `s${number}`;
    const { status, body } = await this.#send("/v1/db/acme/main/snapshots", JSON.stringify({ label }));
    if (status >= 300) return this.#refused("snapshot", status, body);
    this.#snapshots.push({ label, value: this.#now });
    if (this.#snapshots.length > SNAPSHOTS) this.#snapshots.shift();
  }

  async #restore(): Promise<void> {
    if (this.#snapshots.length === 0) return;
    const { label, value } = oneOf(this.#snapshots);
    const body = JSON.stringify({ snapshot: label });
    await this.#change("restore", value, () => this.#send("/v1/db/acme/main/restore", body));
  }

  async #import(value: number): Promise<Answer> {
    const sql =
      `CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, pad TEXT, more); INSERT INTO t VALUES (1, ${value}, 'i', 0);`;
    return await this.#send("/v1/db/acme/main/import?format=sql&mode=replace", sql);
  }

  async #kill(fromMs: number, endMs: number): Promise<void> {
    await pause(fromMs - performance.now());
    while (performance.now() < endMs) {
      if (await killChildren(this.world.folder) > 0) this.#counts.kills++;
      await pause(KILL_EVERY_MS * Math.random());
    }
  }

  /** The one value of a read that is repeated until the engine answers. */
  async #untilTold(sql: string): Promise<unknown> {
    for (let tries = 0; tries < 150; tries++) {
      const { status, body } = await this.#query(sql);
      if (status === 200) return body.data.rows[0]?.[0];
      await pause(200);
    }
    throw new Error(`nothing answers ${sql}`);
  }

  #query(sql: string, params: readonly unknown[] = []): Promise<Answer> {
    return this.#send("/v1/db/acme/main/query", JSON.stringify({ sql, params }));
  }

  async #send(path: string, body: string, more: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const { service, token } = this.world;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", ...more };
    const response = await fetch(service.url + path, { method: "POST", headers, body });
    return { status: response.status, body: await response.json() };
  }
}

function fail(): never {
  throw new TypeError("the list is empty");
}

const [option = "--seconds", text = "60", ...rest] = Deno.args;
const seconds = Number(text);
if (option !== "--seconds" || rest.length > 0 || !Number.isInteger(seconds) || seconds < 1) {
  throw new TypeError("Use --seconds with a whole number from 1");
}
await using world = await serviceWorld({ WELCOME_CREDIT_USD: "1000" });
const register = new Register(world);
const figures = await register.run(seconds);
print(JSON.stringify({ seconds, ...figures, wrong: register.wrong.length }, null, 1));
for (const line of register.wrong.slice(0, 20)) print(line);
Deno.exitCode = register.wrong.length === 0 ? 0 : 1;
