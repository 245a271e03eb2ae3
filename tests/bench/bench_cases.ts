// The cases of the benchmark and the data that they need.
import { type BenchRequest, type BenchStatement, type BenchTarget, sendOnce } from "./bench_target.ts";

export interface BenchCase {
  readonly name: string;
  readonly title: string;
  readonly connections: number;
  readonly requests: (target: BenchTarget) => BenchRequest[];
  /** Least share of the yardstick's and multiple of sqld's requests per second that the service is to reach. */
  readonly goalOfBare?: number;
  readonly goalOfSqld?: number;
}

/** Rows of the table that is read. */
export const ITEMS = 10_000;
/** Different requests of a case; sent in turn. */
const VARIANTS = 500;

const pointRead = (at: number): BenchStatement => ({
  sql: "SELECT id, name, price, stock FROM items WHERE id = ?",
  params: [1 + (at * 7919) % ITEMS],
});
const list = (at: number): BenchStatement => ({
  sql: "SELECT id, name, price, stock FROM items WHERE id >= ? ORDER BY id LIMIT 50",
  params: [1 + (at * 7919) % ITEMS],
});
const insert = (at: number): BenchStatement => ({
  sql: "INSERT INTO entries(note, number) VALUES (?, ?)",
  params: [`note number ${at}`, at],
});

function variants(count: number, make: (at: number) => BenchRequest): BenchRequest[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

const reads = (target: BenchTarget) => variants(VARIANTS, (at) => target.query(pointRead(at)));
const lists = (target: BenchTarget) => variants(VARIANTS, (at) => target.query(list(at)));
const inserts = (target: BenchTarget) => variants(VARIANTS, (at) => target.query(insert(at)));

/** Rows of one call that inserts many. */
const MANY = 1000;

function manyInserts(target: BenchTarget, from: number): BenchRequest {
  const statements = Array.from({ length: MANY }, (_, at) => insert(from + at));
  const [first] = statements;
  return target.many && first
    ? target.many(first.sql, statements.map(({ params }) => params))
    : target.transaction(statements);
}

export const benchCases: readonly BenchCase[] = [
  {
    name: "read-1",
    title: "point read, 1 connection",
    connections: 1,
    requests: reads,
    goalOfBare: 0.55,
  },
  {
    name: "read-32",
    title: "point read, 32 connections",
    connections: 32,
    requests: reads,
    goalOfBare: 0.45,
    goalOfSqld: 5,
  },
  ...[1, 8, 32].map((connections) => ({
    name: `list-${connections}`,
    title: `list of 50 rows, ${connections} ${connections === 1 ? "connection" : "connections"}`,
    connections,
    requests: lists,
  })),
  {
    name: "insert-8",
    title: "single insert, 8 connections",
    connections: 8,
    requests: inserts,
    goalOfSqld: 8,
  },
  {
    name: "insert-32",
    title: "single insert, 32 connections",
    connections: 32,
    requests: inserts,
    goalOfSqld: 8,
  },
  {
    name: "batch-100",
    title: "transaction of 100 inserts, 8 connections",
    connections: 8,
    requests: (target) =>
      variants(20, (at) => target.transaction(Array.from({ length: 100 }, (_, i) => insert(at * 100 + i)))),
  },
  {
    name: "many-1000",
    title: "1,000 inserts of one text, 4 connections",
    connections: 4,
    requests: (target) => variants(10, (at) => manyInserts(target, at * MANY)),
  },
  {
    name: "rows-10000",
    title: "result of 10,000 rows, 4 connections",
    connections: 4,
    requests: (target) => [target.query({ sql: "SELECT id, name, price, stock FROM items", params: [] })],
  },
];

/** A paced or disturbed point read, for the cases that are not about the maximum. */
export const pointReads = reads;
export const otherPointReads = (other: (statement: BenchStatement) => BenchRequest): BenchRequest[] =>
  variants(VARIANTS, (at) => other(pointRead(at)));
export const otherInserts = (other: (statement: BenchStatement) => BenchRequest): BenchRequest[] =>
  variants(VARIANTS, (at) => other(insert(at)));

/** Makes and fills the tables, through `send` where the target has no way of its own. */
export async function fillTables(
  target: BenchTarget,
  send: (statement: BenchStatement) => BenchRequest,
): Promise<void> {
  if (target.fill) return await target.fill();
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ITEMS})`;
  for (
    const sql of [
      "CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, stock INTEGER)",
      "CREATE TABLE entries(id INTEGER PRIMARY KEY, note TEXT NOT NULL, number INTEGER)",
      `${numbers} INSERT INTO items SELECT i, 'item number ' || i, i * 1.25, i % 100 FROM n`,
    ]
  ) await sendOnce(target, send({ sql, params: [] }));
}
