// Strict serialisability, run by hand: `deno run -A tests/faults/histories.ts --seconds 40`. Eight callers append to lists and
// read them through every door that has a way of its own to a commit, while engine children and the service are killed or
// stand still; then `history_check.ts` looks for an order of all calls. Ends with code 1 on any loss.
import { pause } from "../../lib/core/pause.ts";
import { engineChildren, killChildren } from "../testing/engine_children.ts";
import { print } from "../testing/print.ts";
import { type RunningService, startService } from "../testing/start_service.ts";
import { type HistoryCall, historyFaults, type Step } from "./history_check.ts";

const CALLERS = 8;
/** Lists that are used at a time, and appends after which a list gives way to the next. */
const AT_ONCE = 5;
const APPENDS = 50;
const LISTS = 5000;
const EVERY_MS = 2500;
const OPERATOR_KEY = "operator-key-of-the-histories";
const DATABASE = "/v1/db/acme/main";
const PIPELINE = "/hrana/acme/main/v2/pipeline";
const APPEND = "UPDATE lists SET held = held || ? WHERE list = ?";
const READ = "SELECT held FROM lists WHERE list = ?";
/** After these the call may have been made; after every other refusal nothing was. */
const UNKNOWN = ["outcome_unknown", "internal", "replay_running", "OUTCOME_UNKNOWN", "INTERNAL"];

interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

type Told = readonly (string | undefined)[] | null;

const oneOf = <T>(some: readonly T[]): T => some[Math.floor(Math.random() * some.length)] ?? fail();

class Histories {
  readonly calls: HistoryCall[] = [];
  readonly counts: Record<string, number> = {};
  readonly #lists = Array.from({ length: AT_ONCE }, (_, list) => ({ list, appends: 0 }));
  #nextList = AT_ONCE;
  #nextValue = 0;
  #service: RunningService | null = null;
  #token = OPERATOR_KEY;

  constructor(private readonly folder: string) {}

  async run(seconds: number): Promise<string[]> {
    await this.#start();
    try {
      await this.#prepare();
      const endMs = performance.now() + seconds * 1000;
      const callers = Array.from({ length: CALLERS }, () => this.#call(endMs));
      await Promise.all([this.#disturb(endMs), ...callers]);
      await this.#service?.kill();
      await this.#start();
      const lists = await this.#untilTold(`SELECT list, held FROM lists WHERE held <> ''`);
      return historyFaults(
        this.calls,
        new Map(lists.map(([list, held]) => [Number(list), valuesOf(String(held))])),
      );
    } finally {
      await this.#service?.kill();
    }
  }

  async #start(): Promise<void> {
    const settings = { OPERATOR_KEY, DEMO: "0", TENANTS_URL: "file:", WELCOME_CREDIT_USD: "1000" };
    this.#service = await startService({ folder: this.folder, settings });
  }

  async #prepare(): Promise<void> {
    await this.#send("/api/namespaces", { slug: "acme" });
    await this.#send("/api/namespaces/acme/databases", { slug: "main" });
    const made = await this.#send("/api/namespaces/acme/tokens", { name: "t", role: "admin" });
    this.#token = made?.body.data.token;
    for (
      const sql of [
        "CREATE TABLE lists (list INTEGER PRIMARY KEY, held TEXT NOT NULL DEFAULT '')",
        `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${LISTS}) INSERT INTO lists (list) SELECT i FROM n`,
      ]
    ) await this.#untilTold(sql);
  }

  async #disturb(endMs: number): Promise<void> {
    const faults = [() => killChildren(this.folder), () => this.#standStill(), () => this.#restart()];
    while (performance.now() < endMs) {
      await pause(EVERY_MS * (0.3 + Math.random()));
      await oneOf(faults)();
    }
  }

  async #restart(): Promise<void> {
    const service = this.#service;
    this.#service = null;
    await service?.kill();
    await this.#start();
  }

  /** The service, or one of its children. */
  async #standStill(): Promise<void> {
    const pid = oneOf([this.#service?.pid ?? fail(), ...await engineChildren(this.folder)]);
    try {
      Deno.kill(pid, "SIGSTOP");
      await pause(1000 * Math.random());
      Deno.kill(pid, "SIGCONT");
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error; // it had ended
    }
  }

  async #call(endMs: number): Promise<void> {
    const ways = [
      () => this.#one("query", [this.#append()]),
      () => this.#one("look-up", [this.#read()]),
      () => this.#one("look-up", [this.#read()]),
      () => this.#batch("batch", this.#some()),
      () => this.#batch("keyed batch", this.#some(), { "idempotency-key": crypto.randomUUID() }),
      () => this.#refused(),
      () => this.#pipelined(),
      () => this.#transaction(),
      () => this.#transaction(),
    ];
    while (performance.now() < endMs) await oneOf(ways)();
  }

  #append(): Step {
    const place = oneOf(this.#lists);
    const step = { list: place.list, appends: ++this.#nextValue };
    if (++place.appends === APPENDS) Object.assign(place, { list: this.#nextList++, appends: 0 });
    return step;
  }

  #read(): Step {
    return { list: oneOf(this.#lists).list, reads: null };
  }

  #some(): Step[] {
    return Array.from(
      { length: 1 + Math.floor(4 * Math.random()) },
      () => Math.random() < 0.5 ? this.#append() : this.#read(),
    );
  }

  async #one(name: string, steps: readonly Step[]): Promise<void> {
    const call = this.#begin(name, steps);
    const [statement] = steps.map(statementOf);
    const answer = await this.#send(`${DATABASE}/query`, statement);
    this.#end(call, answer, () => [answer?.body.data.rows[0]?.[0]]);
  }

  /** Under a key until it is answered, sometimes twice at once. */
  async #batch(name: string, steps: readonly Step[], headers: Readonly<Record<string, string>> = {}) {
    const call = this.#begin(name, steps);
    const send = () =>
      this.#send(`${DATABASE}/batch`, { transaction: true, statements: steps.map(statementOf) }, headers);
    let answer = await send();
    for (let tries = 0; name === "keyed batch" && tries < 50 && answer?.status !== 200; tries++) {
      await pause(50);
      [answer = null] = await Promise.all([send(), ...Math.random() < 0.3 ? [send()] : []]);
    }
    const isSure = name !== "keyed batch" || answer?.status === 200;
    this.#end(call, isSure ? answer : null, () => answer?.body.data.map(firstCell));
  }

  /** What fails, and what is only tried, is never there. */
  async #refused(): Promise<void> {
    const call = this.#begin("refused", [this.#append()]);
    call.outcome = "refused";
    const [statement] = call.steps.map(statementOf);
    const statements = [statement, { sql: "INSERT INTO lists (list) VALUES (0)" }];
    if (Math.random() < 0.5) await this.#send(`${DATABASE}/batch`, { transaction: true, statements });
    else await this.#send(`${DATABASE}/query`, statement, { "x-dry-run": "1" });
  }

  /** Statements of one request, each of which commits by itself. */
  async #pipelined(): Promise<void> {
    const calls = this.#some().map((step) => this.#begin("pipelined", [step]));
    const requests = calls.flatMap(({ steps }) => steps.map((step) => requestOf(statementOf(step))));
    const answer = await this.#send(PIPELINE, { baton: null, requests });
    for (const [at, call] of calls.entries()) {
      const result = answer?.body.results?.[at];
      const isOk = answer?.status !== 200 || result.type === "ok";
      this.#end(call, isOk ? answer : { status: 400, body: result.error }, () => [hranaCell(result)]);
    }
  }

  /** One statement a request. */
  async #transaction(): Promise<void> {
    const call = this.#begin("transaction", this.#some());
    const texts = [
      { sql: oneOf(["BEGIN", "BEGIN IMMEDIATE"]) },
      ...call.steps.map(statementOf),
      { sql: "COMMIT" },
    ];
    let baton: string | null = null;
    const cells: (string | undefined)[] = [];
    for (const [at, statement] of texts.entries()) {
      const requests = [requestOf(statement)];
      const answer: Answer | null = await this.#send(PIPELINE, { baton, requests });
      const result = answer?.body.results?.[0];
      const isOk = answer?.status === 200 && result.type === "ok";
      if (isOk) {
        baton = answer.body.baton;
        cells.push(hranaCell(result));
        continue;
      }
      // Before its COMMIT was sent nothing of it is kept.
      const isOpen = at < texts.length - 1;
      if (isOpen && baton !== null) await this.#send(PIPELINE, { baton, requests: [{ type: "close" }] });
      const body = result?.error ?? answer?.body ?? {};
      return this.#end(
        call,
        isOpen ? { status: 400, body: {} } : answer && { status: 400, body },
        () => null,
      );
    }
    this.#end(call, { status: 200, body: {} }, () => cells.slice(1, -1));
  }

  #begin(name: string, steps: readonly Step[]): HistoryCall {
    const call: HistoryCall = {
      ...{ name, steps, startMs: performance.now(), endMs: Infinity, outcome: "unknown" },
    };
    this.calls.push(call);
    return call;
  }

  #end(call: HistoryCall, answer: Answer | null, told: () => Told): void {
    if (answer?.status === 200) {
      call.outcome = "done";
      const cells = told() ?? [];
      for (const [at, step] of call.steps.entries()) {
        if ("reads" in step) step.reads = valuesOf(cells[at] ?? fail());
      }
    } else if (answer !== null && !UNKNOWN.includes(answer.body.code)) call.outcome = "refused";
    if (call.outcome !== "unknown") call.endMs = performance.now();
    const what = `${call.name} ${call.outcome}`;
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  async #untilTold(sql: string): Promise<unknown[][]> {
    for (let tries = 0; tries < 150; tries++) {
      const answer = await this.#send(`${DATABASE}/query`, { sql });
      if (answer?.status === 200) return answer.body.data.rows;
      await pause(200);
    }
    throw new Error(`nothing answers ${sql}`);
  }

  /** Null: no answer. */
  async #send(
    path: string,
    body: unknown,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answer | null> {
    const service = this.#service;
    if (service === null) {
      await pause(30);
      return null;
    }
    try {
      const headers = {
        authorization: `Bearer ${this.#token}`,
        "content-type": "application/json",
        ...more,
      };
      const response = await fetch(service.url + path, {
        ...{ method: "POST", headers, body: JSON.stringify(body) },
      });
      return { status: response.status, body: await response.json() };
    } catch (error) {
      // The connection was lost: also in the middle of an answer.
      if (error instanceof TypeError) return null;
      throw error;
    }
  }
}

interface Statement {
  readonly sql: string;
  readonly params?: readonly (string | number)[];
}

function statementOf(step: Step): Statement {
  if ("reads" in step) return { sql: READ, params: [step.list] };
  return { sql: APPEND, params: [`${step.appends},`, step.list] };
}

function requestOf({ sql, params = [] }: Statement): unknown {
  const args = params.map((value) =>
    typeof value === "number" ? { type: "integer", value: String(value) } : { type: "text", value }
  );
  return { type: "execute", stmt: { sql, args } };
}

function valuesOf(held: string): number[] {
  return held.split(",").slice(0, -1).map(Number);
}

// deno-lint-ignore no-explicit-any
const firstCell = ({ rows }: any): string | undefined => rows[0]?.[0];
// deno-lint-ignore no-explicit-any
const hranaCell = ({ response }: any): string | undefined => response.result.rows[0]?.[0]?.value;

function fail(): never {
  throw new TypeError("nothing is there");
}

const [option = "--seconds", text = "40", ...rest] = Deno.args;
const seconds = Number(text);
if (option !== "--seconds" || rest.length > 0 || !Number.isInteger(seconds) || seconds < 1) {
  throw new TypeError("Use --seconds with a whole number from 1");
}
const folder = await Deno.makeTempDir({ prefix: "cubby_histories_" });
try {
  const histories = new Histories(folder);
  const wrong = await histories.run(seconds);
  print(
    JSON.stringify(
      { seconds, calls: histories.calls.length, ...histories.counts, wrong: wrong.length },
      null,
      1,
    ),
  );
  for (const line of wrong.slice(0, 20)) print(line.slice(0, 2000));
  Deno.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  await Deno.remove(folder, { recursive: true });
}
