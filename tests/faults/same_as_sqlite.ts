// The same answers as SQLite's own, run by hand: `deno run -A tests/faults/same_as_sqlite.ts --seconds 60 --seed 1`.
// Wild schemas and statements through the service's doors, embedded and on sqld, beside a plain SQLite. Ends with code 1 on any difference.
import { PlainDatabase } from "../models/plain_database.ts";
import type { Call } from "../models/random_statements.ts";
import { print } from "../testing/print.ts";
import { manage, newToken, serviceWorld } from "../testing/service_world.ts";
import { SHARED_SQLD, startSqld } from "../testing/sqld.ts";
import { clientDoor, compared, type Door, remove, restDoor } from "./sql_doors.ts";
import { crowd, note, roundTrips, type Trial } from "./whole_databases.ts";
import { Dice, Wild } from "./wild_statements.ts";

const CALLS_OF_A_CASE = 30;

function options(): { seconds: number; seed: number; sqld: boolean; cases: number } {
  const found = { seconds: 60, seed: Math.floor(Math.random() * 1e9), cases: Infinity, sqld: 1 };
  for (let at = 0; at < Deno.args.length; at += 2) {
    const name = (Deno.args[at] ?? "").replace("--", "");
    const value = Number(Deno.args[at + 1]);
    if (!(name in found) || !Number.isInteger(value)) {
      throw new TypeError(`Use --seconds, --seed, --cases, --sqld with whole numbers`);
    }
    Reflect.set(found, name, value);
  }
  return { ...found, sqld: found.sqld > 0 };
}

const { seconds, seed, sqld: withSqld, cases } = options();
print(`seed ${seed}`);
const endMs = performance.now() + seconds * 1000;
const sqld = withSqld ? await startSqld({ args: SHARED_SQLD }) : null;
const embedded = await serviceWorld();
const remote = sqld === null
  ? null
  : await serviceWorld({ TENANTS_URL: `sqld+${sqld.url}?admin=${sqld.adminUrl}` });
let differences = 0;
const readers = {
  embedded: { ...embedded, token: await newToken(embedded, "read") },
  remote: remote && { ...remote, token: await newToken(remote, "read") },
};
const trial: Trial = {
  ...{ embedded, remote, counts: {} },
  differ: (of, where, text) => {
    differences++;
    print(`DIFFERS case seed ${of} at ${where}: ${text.replaceAll(/x{50,}/g, "x…x").slice(0, 6000)}
`);
  },
};
try {
  for (let at = 0; performance.now() < endMs && at < cases; at++) await oneCase(seed + at);
} finally {
  await embedded[Symbol.asyncDispose]();
  await remote?.[Symbol.asyncDispose]();
  await sqld?.stop();
}
print(JSON.stringify({ seed, differences, ...trial.counts }, null, 1));
Deno.exit(differences === 0 ? 0 : 1);

async function oneCase(of: number): Promise<void> {
  const dice = new Dice(of);
  const wild = new Wild(dice, remote === null);
  using plain = new PlainDatabase();
  const setUp: Call = { statements: wild.setUp, transaction: true };
  const made = plain.run(setUp);
  note(trial, "cases");
  const slug = `c${of}`;
  const doors: Door[] = [];
  for (const name of ["rest", "http", "ws"]) {
    await manage(embedded, "/acme/databases", { slug: `${slug}-${name}` });
    doors.push(
      name === "rest"
        ? restDoor(name, embedded, `${slug}-${name}`, false)
        : clientDoor(name, embedded, `${slug}-${name}`, name),
    );
  }
  if (remote) {
    await manage(remote, "/acme/databases", { slug });
    doors.push(restDoor("sqld", remote, slug, true));
  }
  try {
    for (const door of doors) {
      const told = await door.send(setUp);
      if ((told.kind === "") !== (made.failure === null)) {
        trial.differ(
          of,
          door.name,
          `set-up: ${JSON.stringify(told.kind)} ${told.message} / ${JSON.stringify(made.failure)} ${
            JSON.stringify(wild.setUp.map(({ sql }) => sql))
          }`,
        );
        return;
      }
    }
    if (made.failure !== null) {
      note(trial, "set-ups that fail");
      return;
    }
    const lookUps = dice.many(2, 3, () => wild.lookUp());
    let changes = 0;
    const statement = () => {
      if (dice.rarely(25)) return wild.schemaChange(changes++);
      return dice.rarely(3) ? dice.rarely(2) ? wild.again(dice.one(...lookUps)) : wild.read() : wild.write();
    };
    for (let n = 0; n < CALLS_OF_A_CASE; n++) {
      const call: Call = dice.rarely(3)
        ? { statements: dice.many(1, 6, statement), transaction: dice.rarely(2) }
        : {
          statements: [dice.rarely(3) ? wild.again(dice.one(...lookUps)) : statement()],
          transaction: null,
        };
      const { results, failure } = plain.run(call);
      note(trial, "calls");
      const kind = failure?.kind ?? "";
      if (failure) note(trial, kind);
      const base = { kind, message: "" };
      const shownResults = failure !== null && call.transaction !== false ? [] : results;
      for (const door of doors) {
        const isClient = door.name === "http" || door.name === "ws";
        const wanted = compared(
          {
            ...base,
            results: shownResults.map(({ columns, rows, rowsWritten, ownRows }) =>
              isClient ? { columns, rows, affected: ownRows } : { columns, rows, rowsWritten }
            ),
          },
          call,
          wild,
          door,
        );
        await asReader(trial, of, door, call, wanted, wild);
        const answer = await door.send(call);
        const told = compared(answer, call, wild, door);
        // A statement that does not compile is found before anything of a transaction runs.
        const isBothFailed = call.transaction === true && failure !== null && answer.kind !== "" &&
          answer.kind === "other";
        if (told !== wanted && !isBothFailed) {
          trial.differ(
            of,
            door.name,
            `${JSON.stringify(call)}\n  wanted ${wanted} ${
              JSON.stringify(failure)
            }\n  told   ${told} ${answer.message}\n  schema ${
              JSON.stringify(wild.setUp.map(({ sql }) => sql))
            }`,
          );
        }
      }
    }
    for (const sql of wild.dumps) {
      const rows = plain.rows(sql).map((row) => JSON.stringify(row)).toSorted();
      for (const door of doors) {
        const answer = await door.send({ statements: [{ sql, params: [] }], transaction: null });
        const told = (answer.results[0]?.rows ?? []).map((row) => JSON.stringify(row)).toSorted();
        if (JSON.stringify(told) !== JSON.stringify(rows)) {
          trial.differ(
            of,
            door.name,
            `dump ${sql}\n  wanted ${JSON.stringify(rows)}\n  told   ${
              JSON.stringify(told)
            } ${answer.message}`,
          );
        }
      }
    }
    await roundTrips(trial, of, wild, plain, slug);
    await crowd(trial, of, embedded, "embedded");
    if (remote) await crowd(trial, of, remote, "sqld");
  } finally {
    for (const door of doors) door.close?.();
    for (const name of ["sql", "sqlite"]) await remove(embedded, `${slug}-${name}`);
    for (const name of ["rest", "http", "ws"]) await remove(embedded, `${slug}-${name}`);
    if (remote) await remove(remote, slug);
  }
}

/** A reader gets the answer of a read, and nothing of a write; that nothing has changed, the calls behind it show. */
async function asReader(
  trial: Trial,
  of: number,
  { name, isOther }: Door,
  call: Call,
  wanted: string,
  wild: Wild,
): Promise<void> {
  const world = isOther ? readers.remote : readers.embedded;
  if (world === null || !["rest", "sqld"].includes(name)) return;
  const door = restDoor(name, world, isOther ? `c${of}` : `c${of}-rest`, isOther);
  const answer = await door.send(call);
  const isRead = call.statements.every(({ sql }) => /^(SELECT|WITH)/.test(sql));
  const told = compared(answer, call, wild, door);
  const isRight = isRead
    ? told === wanted || call.transaction === true && answer.kind !== "" && !wanted.startsWith('["",')
    : /^403 /.test(answer.kind) && answer.results.length === 0 ||
      answer.kind === "other" && !wanted.startsWith('["",');
  note(trial, isRead ? "reads of a reader" : "writes of a reader");
  if (!isRight) {
    trial.differ(
      of,
      `${name} as a reader`,
      `${JSON.stringify(call)}\n  wanted ${wanted}\n  told   ${told} ${answer.message}`,
    );
  }
}
