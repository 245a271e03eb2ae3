// What `power_cuts.ts` has the service do, and what of it has to be there behind a cut: all that was answered before it.
import { pause } from "../../lib/core/pause.ts";
import { type ApiAnswer, type ApiRequest, callApi } from "../testing/call_api.ts";

export interface PowerWorld {
  readonly url: string;
  readonly operatorKey: string;
}

export interface Moment {
  /** How many acts had been answered. */
  readonly answered: number;
  /** What is wrong in a service that has the disk of this moment; it is changed by that. */
  look(copy: PowerWorld): Promise<string[]>;
}

export interface PowerActs {
  /** The moment of what is done meanwhile, which is to take a copy of the disk. */
  during(cut: () => Promise<void>): Promise<Moment>;
  /** Waits for the acts under way. */
  stop(): Promise<void>;
}

type Call = (method: string, path: string, options?: ApiRequest) => Promise<ApiAnswer>;

/** When a copy of the disk was begun and had ended, by `performance.now()`. */
interface Span {
  readonly beganMs: number;
  readonly endedMs: number;
}

interface Act<State> {
  /** What it changes the thing to. */
  readonly state: State;
  readonly sentMs: number;
  answeredMs: number;
}

/** One thing that one caller changes again and again, one change after the other. */
interface Thing<State> {
  readonly name: string;
  readonly first: State;
  /** What it is changed to from this state. */
  after(state: State): State;
  /** Changes it from this state to the one after it. */
  next(call: Call, state: State): Promise<unknown>;
  /** What it is, or a text that tells what cannot be. `last`: what was answered before the cut at the latest. */
  look(call: Call, last: State): Promise<State | string>;
  readonly pauseMs?: number;
}

const DATABASES = Array.from({ length: 8 }, (_, at) => `d${at}`);
const WRITERS = Array.from({ length: 6 }, (_, at) => at);
const API = "/api/namespaces/acme";

/** `token`: an admin's, for all that is under `/v1`. */
function callOf({ url, operatorKey }: PowerWorld, token: string): Call {
  const at = { request: (path: string, init: RequestInit) => fetch(`${url}${path}`, init) };
  return (method, path, options = {}) =>
    callApi(at, method, path, { token: path.startsWith("/v1") ? token : operatorKey, ...options });
}

/** The answer of a call that has to end well. */
async function done(call: Call, method: string, path: string, body?: object, headers = {}): Promise<Data> {
  const answer = await call(method, path, { ...(body ? { body } : {}), headers });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return Object(answer.body.data);
}

interface Data {
  readonly [name: string]: unknown;
}

async function run(call: Call, database: string, sql: string, params: readonly unknown[] = [], headers = {}) {
  return await done(call, "POST", `/v1/db/acme/${database}/query`, { sql, params }, headers);
}

async function rowsOf(call: Call, database: string, sql: string): Promise<unknown[][]> {
  return (await run(call, database, sql))["rows"] as unknown[][];
}

const plusOne = (n: number) => n + 1;

/** How many there are, if they are 1, 2, 3 and so on, each of them once. */
function inARow(found: readonly number[]): number | string {
  const sorted = found.toSorted((a, b) => a - b);
  const odd = sorted.findIndex((n, at) => n !== at + 1);
  return odd < 0 ? sorted.length : `number ${odd + 1} of ${sorted.length} is ${sorted[odd]}`;
}

function one<Item>(items: readonly Item[]): Item {
  return items[Math.floor(Math.random() * items.length)] as Item;
}

/** Inserts 1, 2, 3 and so on, each into some database. */
function rowsIn(writer: number): Thing<number> {
  return {
    name: `rows of writer ${writer}`,
    first: 0,
    after: plusOne,
    async next(call, n) {
      const headers = { "idempotency-key": `row-${writer}-${n + 1}` };
      await run(call, one(DATABASES), "INSERT INTO rows VALUES (?, ?)", [writer, n + 1], headers);
    },
    async look(call) {
      const sql = `SELECT n FROM rows WHERE writer = ${writer}`;
      const found = await Promise.all(DATABASES.map((database) => rowsOf(call, database, sql)));
      return inARow(found.flat().map(([n]) => Number(n)));
    },
  };
}

/** Counts on under a key; what was answered is not counted again under its key. */
const counter: Thing<number> = {
  name: "counter",
  first: 0,
  after: plusOne,
  next: (call, n) => count(call, n + 1),
  async look(call, last) {
    if (last > 0) await count(call, last);
    return await value(call);
  },
};

async function value(call: Call): Promise<number> {
  return Number((await rowsOf(call, "d0", "SELECT n FROM counter"))[0]?.[0]);
}

async function count(call: Call, n: number): Promise<void> {
  await run(call, "d0", "UPDATE counter SET n = n + 1", [], { "idempotency-key": `count-${n}` });
}

/** Batches of two rows in two tables. */
const pairs: Thing<number> = {
  name: "pairs",
  first: 0,
  after: plusOne,
  async next(call, n) {
    const statements = ["left_ones", "right_ones"].map((table) => ({
      sql: `INSERT INTO ${table} VALUES (?)`,
      params: [n + 1],
    }));
    await done(call, "POST", "/v1/db/acme/d1/batch", { statements, transaction: true });
  },
  async look(call) {
    const [left, right] = await Promise.all(
      ["left_ones", "right_ones"].map(async (table) =>
        inARow((await rowsOf(call, "d1", `SELECT n FROM ${table}`)).map(([n]) => Number(n)))
      ),
    );
    return left === right && left !== undefined ? left : `left ${left}, right ${right}`;
  },
};

/** Execution tokens, each used once; the last one that was used is of no use behind the cut. */
function proposals(): Thing<number> {
  const tokens: unknown[] = [];
  return {
    name: "proposals",
    first: 0,
    after: plusOne,
    async next(call, n) {
      const { executionToken } = await done(call, "POST", "/v1/db/acme/d2/propose", {
        sql: "INSERT INTO proposed VALUES (?)",
        params: [n + 1],
      });
      tokens[n + 1] = executionToken;
      await done(call, "POST", "/v1/db/acme/d2/apply", { executionToken });
    },
    async look(call, last) {
      const again = { body: { executionToken: tokens[last] } };
      if (last > 0) await call("POST", "/v1/db/acme/d2/apply", again);
      return inARow((await rowsOf(call, "d2", "SELECT n FROM proposed")).map(([n]) => Number(n)));
    },
  };
}

type Life = "absent" | "empty" | "filled";
const lifeAfter: Readonly<Record<Life, Life>> = { absent: "empty", empty: "filled", filled: "absent" };

function database(slug: string): Thing<Life> {
  return {
    name: `database ${slug}`,
    first: "absent",
    after: (state) => lifeAfter[state],
    async next(call, state) {
      if (state === "absent") await done(call, "POST", `${API}/databases`, { slug });
      else if (state === "empty") await run(call, slug, "CREATE TABLE t AS SELECT 1 AS a");
      else await done(call, "DELETE", `${API}/databases/${slug}`, { confirm: slug });
    },
    look: (call) => lifeOf(call, slug, "SELECT count(*) FROM sqlite_schema WHERE name = 't'"),
  };
}

/** A branch of `d3`, where `t` has no row. */
function branch(ref: string): Thing<Life> {
  return {
    name: `branch ${ref}`,
    first: "absent",
    after: (state) => lifeAfter[state],
    async next(call, state) {
      if (state === "absent") {
        await done(call, "POST", "/v1/db/acme/d3/claim_branch", { purpose: "test", ref });
      } else if (state === "empty") await run(call, `d3@${ref}`, "INSERT INTO t VALUES (1)");
      else await done(call, "DELETE", `/v1/db/acme/d3/branches/${ref}`);
    },
    look: (call) => lifeOf(call, `d3@${ref}`, "SELECT count(*) FROM t"),
  };
}

async function lifeOf(call: Call, slug: string, sql: string): Promise<Life> {
  const { status, text, body } = await call("POST", `/v1/db/acme/${slug}/query`, { body: { sql } });
  if (status === 404) return "absent";
  if (status !== 200) throw new Error(text);
  return Object(body.data).rows[0][0] === 0 ? "empty" : "filled";
}

/** Odd numbers: a token was made; even ones: it was revoked. */
function tokenAt(at: number): Thing<number> {
  const made: { readonly id: string; readonly token: string }[] = [];
  return {
    name: `token ${at}`,
    first: 0,
    after: plusOne,
    async next(call, n) {
      const last = made.at(-1);
      if (n % 2 === 0) {
        const { id, token } = await done(call, "POST", `${API}/tokens`, { name: "test", role: "read" });
        made[(n + 2) / 2] = { id: String(id), token: String(token) };
      } else await done(call, "DELETE", `${API}/tokens/${last?.id}`);
    },
    async look(call, last) {
      const works = async (n: number) => {
        const one = made[n];
        return one !== undefined && (await call("GET", "/v1/me", { token: one.token })).status === 200;
      };
      const current = Math.ceil(last / 2);
      // Behind the cut the one after it may have been made, and may have been revoked.
      for (const n of [current + 1, current]) if (n > 0 && await works(n)) return n * 2 - 1;
      return current * 2;
    },
  };
}

/** What the operator has credited, a dollar each time. */
const credits: Thing<number> = {
  name: "credits",
  first: 0,
  after: plusOne,
  async next(call, n) {
    await done(call, "POST", `/api/namespaces/rich/credits`, { amountUsd: 1, reference: `credit-${n + 1}` });
  },
  async look(call) {
    const { balanceUsd } = await done(call, "GET", "/api/namespaces/rich/balance");
    return Math.round(Number(balanceUsd)) - 1000;
  },
};

/** A table that grows to five rows, and is taken back by its snapshot. */
const restored: Thing<number> = {
  name: "restored",
  first: 0,
  after: (n) => n < 5 ? n + 1 : 0,
  async next(call, n) {
    if (n < 5) await run(call, "restored", "INSERT INTO t VALUES (1)");
    else await done(call, "POST", "/v1/db/acme/restored/restore", { snapshot: "start" });
  },
  look: async (call) => Number((await rowsOf(call, "restored", "SELECT count(*) FROM t"))[0]?.[0]),
};

/** A database that is written so seldom that its file is put to rest between two times. */
function seldom(slug: string): Thing<number> {
  return {
    name: `database ${slug}, written seldom`,
    first: 0,
    after: plusOne,
    pauseMs: 75_000,
    async next(call, n) {
      await run(call, slug, "INSERT INTO t VALUES (?)", [n + 1]);
    },
    look: async (call) => inARow((await rowsOf(call, slug, "SELECT a FROM t")).map(([a]) => Number(a))),
  };
}

const SELDOM = Array.from({ length: 30 }, (_, at) => `seldom${at}`);

/** Makes what there is at the beginning; the token of an admin. */
async function begin(world: PowerWorld): Promise<string> {
  const asOperator = callOf(world, "");
  for (const slug of ["acme", "rich"]) await done(asOperator, "POST", "/api/namespaces", { slug });
  const token = String(
    (await done(asOperator, "POST", `${API}/tokens`, { name: "admin", role: "admin" }))["token"],
  );
  const call = callOf(world, token);
  const setup: Record<string, string[]> = {
    d0: ["CREATE TABLE counter (n)", "INSERT INTO counter VALUES (0)"],
    d1: ["CREATE TABLE left_ones (n)", "CREATE TABLE right_ones (n)"],
    d2: ["CREATE TABLE proposed (n)"],
    d3: ["CREATE TABLE t (a)"],
    restored: ["CREATE TABLE t (a)"],
  };
  for (const slug of [...DATABASES, "restored"]) {
    await done(call, "POST", `${API}/databases`, { slug });
    for (const sql of ["CREATE TABLE rows (writer, n)", ...setup[slug] ?? []]) await run(call, slug, sql);
  }
  await done(call, "POST", "/v1/db/acme/restored/snapshots", { label: "start" });
  for (const slug of SELDOM) {
    await done(call, "POST", `${API}/databases`, { slug });
    await run(call, slug, "CREATE TABLE t (a)");
  }
  return token;
}

/** A thing, all that was done to it, and what it is done by. */
class Course<State> {
  readonly #acts: Act<State>[];
  #ends = false;
  readonly #running: Promise<void>;
  /** What went wrong while nothing was cut. */
  readonly failures: string[] = [];

  constructor(private readonly thing: Thing<State>, private readonly call: Call) {
    this.#acts = [{ state: thing.first, sentMs: 0, answeredMs: 0 }];
    this.#running = this.#go();
  }

  answered(beforeMs: number): number {
    return this.#acts.filter(({ answeredMs }) => answeredMs <= beforeMs).length - 1;
  }

  /** What is wrong on a disk of that time. */
  async look(call: Call, { beganMs, endedMs }: Span): Promise<string[]> {
    const last = this.#acts.findLastIndex(({ answeredMs }) => answeredMs <= beganMs);
    const { state } = this.#acts[last] as Act<State>;
    const possible = this.#acts.slice(last).filter(({ sentMs }) => sentMs <= endedMs).map(({ state }) =>
      state
    );
    const found = await this.thing.look(call, state).catch((error) => `cannot be read: ${error}`);
    return possible.some((one) => one === found)
      ? []
      : [`${this.thing.name}: ${found}, possible: ${possible.join(", ")}`];
  }

  async stop(): Promise<void> {
    this.#ends = true;
    await this.#running;
  }

  async #go(): Promise<void> {
    const { thing } = this;
    for (let state = thing.first; !this.#ends; state = thing.after(state)) {
      const act = { state: thing.after(state), sentMs: performance.now(), answeredMs: Infinity };
      this.#acts.push(act);
      try {
        await thing.next(this.call, state);
        act.answeredMs = performance.now();
      } catch (error) {
        this.failures.push(`${thing.name}: ${error}`);
        return;
      }
      for (let left = thing.pauseMs ?? 0; left > 0 && !this.#ends; left -= 100) await pause(100);
    }
  }
}

/** Makes what they are done to, and begins. */
export async function startActs(world: PowerWorld): Promise<PowerActs> {
  const token = await begin(world);
  const call = callOf(world, token);
  const courses = [
    ...[...WRITERS.map(rowsIn), counter, pairs, proposals(), credits, restored, ...SELDOM.map(seldom)].map((
      one,
    ) => new Course(one, call)),
    ...[tokenAt(0), tokenAt(1)].map((one) => new Course(one, call)),
    ...["x0", "x1"].map((slug) => new Course(database(slug), call)),
    ...["b0", "b1"].map((ref) => new Course(branch(ref), call)),
  ];
  return {
    async during(cut) {
      const beganMs = performance.now();
      await cut();
      const span = { beganMs, endedMs: performance.now() };
      return {
        answered: courses.reduce((sum, course) => sum + course.answered(beganMs), 0),
        async look(copy) {
          const onCopy = callOf(copy, token);
          const found = await Promise.all(courses.map((course) => course.look(onCopy, span)));
          return [...found.flat(), ...courses.flatMap(({ failures }) => failures)];
        },
      };
    },
    stop: async () => void await Promise.all(courses.map((course) => course.stop())),
  };
}
