// Look-ups by key in copies of files, where there is no room for one more connection: only what is complete is copied, what was
// written before is seen, and nothing of one database is ever read in another.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { databasePath } from "../../lib/tenant/local/files/tenant_paths.ts";
import { DIGIT_ROWS, PLAIN_ROWS, TYPED_ROWS } from "../../lib/sql/words/row_form.ts";
import { rowsOf, Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { withLocalStore } from "../testing/local_store.ts";
import { Dice } from "../faults/wild_statements.ts";
import { startFlags } from "../testing/start_permissions.ts";
import {
  elsewhere,
  firstLook,
  giveSlot,
  KEY_READS,
  look,
  lookAll,
  putToRest,
  withFile,
  type World,
} from "./lookup_world.ts";

/** A database at rest in a world without room for a connection. */
async function withImage(body: (world: World) => Promise<void>): Promise<void> {
  await withFile(async (world) => {
    putToRest(world.path);
    await firstLook(world);
    assertEquals(world.lookups.isOpen(world.database.databaseId), false);
    await body(world);
  }, 0);
}

/** Something has written: the slot has had a holder. */
function written(world: World, sql: string): void {
  const database = new DatabaseSync(world.path);
  database.exec(sql);
  database.close();
  giveSlot(world, (world.database.lanes.writeTurn ?? 0) + 1);
}

Deno.test("without room for a connection a file at rest is copied, and each look-up sees what was written before it", async () => {
  await withImage(async (world) => {
    for (let n = 1; n <= 20; n++) {
      written(world, `UPDATE t SET a = 'at ${n}'`);
      assertEquals(await lookAll(world, Array(3).fill(world.call)), Array(3).fill([[`at ${n}`]]));
    }
    assertEquals(world.lookups.isOpen(world.database.databaseId), false);
  });
});

Deno.test("many databases in turns: each answer is of its own file", async () => {
  await withImage(async (world) => {
    const others = await Promise.all(Array.from({ length: 5 }, () => world.another()));
    for (const [at, { databaseId }] of others.entries()) {
      const path = world.path.replaceAll(/[^/]+\/[^/]+$/g, "") +
        `${databaseId.slice(-2).toLowerCase()}/${databaseId}.db`;
      const database = new DatabaseSync(path);
      database.exec(`UPDATE t SET a = '${at}'; PRAGMA journal_mode=DELETE`);
      database.close();
    }
    for (let round = 0; round < 20; round++) {
      const found = await Promise.all(others.map((database) => look({ ...world, database })));
      assertEquals(found, others.map((_, at) => [[String(at)]]));
    }
  });
});

/** Opens the file, gives it a log, and leaves both open. */
function withLog({ path }: World): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode=WAL; UPDATE t SET a = 'in the log'");
  return database;
}

Deno.test("what is not complete or not of the known schema is left to a child", async () => {
  const cases: Readonly<Record<string, (world: World) => unknown>> = {
    "somebody has the write slot": (world) => giveSlot(world, null),
    "the database is held": ({ database }) => void (database.lanes.mayLookUp = false),
    "a log stands beside it without an index": ({ path }) => Deno.writeTextFile(`${path}-wal`, ""),
    "a journal stands beside it": ({ path }) => Deno.writeTextFile(`${path}-journal`, ""),
    "its schema is another one": (world) => written(world, "CREATE TABLE later (a)"),
    "it is long": (world) => written(world, "INSERT INTO t VALUES (2, hex(zeroblob(200000)))"),
    "it is short": ({ path }) => Deno.truncate(path, 99),
    "it is empty": ({ path }) => Deno.truncate(path, 0),
    "it is gone": ({ path }) => Deno.remove(path),
    "it is a pipe, which nobody fills": async ({ path }) => {
      await Deno.remove(path);
      assert((await new Deno.Command("mkfifo", { args: [path] }).output()).success);
    },
    "its texts are not UTF-8": async ({ path, call }) => {
      await Deno.remove(path);
      const database = new DatabaseSync(path, { defensive: false });
      database.exec("PRAGMA encoding='UTF-16'; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)");
      database.exec(`INSERT INTO t VALUES (1, 'one'); PRAGMA schema_version=${call.schemaVersion}`);
      database.close();
    },
    "its pages are damaged": async ({ path }) => {
      const bytes = await Deno.readFile(path);
      await Deno.writeFile(path, bytes.fill(0x5a, 100));
    },
    "its value is long": (world) => written(world, "UPDATE t SET a = hex(zeroblob(40000))"),
    "a journal stands beside it and its log": async (world) => {
      using _open = withLog(world);
      await Deno.writeTextFile(`${world.path}-journal`, "");
      return await look(world);
    },
    "its log is long": async (world) => {
      using open = withLog(world);
      open.exec("PRAGMA wal_autocheckpoint=0");
      for (let at = 0; at < 40; at++) open.exec("UPDATE t SET a = a || 'x'");
      return await look(world);
    },
    "its log is cut off": async (world) => {
      using _open = withLog(world);
      await Deno.truncate(`${world.path}-wal`, 4000);
      return await look(world);
    },
    "its log is another one than its index tells of": async (world) => {
      using _open = withLog(world);
      const bytes = await Deno.readFile(`${world.path}-wal`);
      await Deno.writeFile(`${world.path}-wal`, bytes.fill(1, 40, 48));
      return await look(world);
    },
    "its index is being changed": async (world) => {
      using _open = withLog(world);
      const bytes = await Deno.readFile(`${world.path}-shm`);
      bytes[60] = (bytes[60] ?? 0) ^ 1;
      await Deno.writeFile(`${world.path}-shm`, bytes);
      return await look(world);
    },
    "its index is of a form that nobody knows": async (world) => {
      using _open = withLog(world);
      const bytes = await Deno.readFile(`${world.path}-shm`);
      bytes[0] = bytes[48] = 1;
      await Deno.writeFile(`${world.path}-shm`, bytes);
      return await look(world);
    },
  };
  for (const [name, happens] of Object.entries(cases)) {
    await withImage(async (world) => {
      assertEquals(await happens(world) ?? null, null, name);
      assertEquals(await look(world), null, name);
    });
  }
});

Deno.test("a file whose schema cannot be read is left to a child, and the files that are copied after it are read", async () => {
  await withImage(async (world) => {
    const other = { ...world, database: await world.another() };
    const bytes = await Deno.readFile(world.path);
    await Deno.writeFile(world.path, bytes.fill(0x5a, 100));
    assertEquals([await look(world), await look(other)], [null, [["one"]]]);
  });
});

Deno.test("a database whose log could not be read is copied again once somebody has had its slot", async () => {
  await withImage(async (world) => {
    await Deno.writeTextFile(`${world.path}-wal`, "");
    assertEquals([await look(world), await look(world)], [null, null]);
    await Deno.remove(`${world.path}-wal`);
    assertEquals(await look(world), null);
    giveSlot(world, null);
    assertEquals(await look(world), null);
    giveSlot(world, 7);
    assertEquals(await look(world), [["one"]]);
  });
});

Deno.test("a copy shows what has been committed, whatever stands in the log and wherever it has been folded in", async () => {
  const dice = new Dice(42);
  await withImage(async (world) => {
    const [writer, reader] = [new DatabaseSync(world.path), new DatabaseSync(world.path)];
    let { call } = world;
    writer.exec("PRAGMA journal_mode=WAL; PRAGMA cache_size=2; PRAGMA wal_autocheckpoint=0");
    const text = () => `replace(hex(zeroblob(${dice.below(2500)})), '00', '${dice.one("a", "b", "c")}')`;
    const change = () =>
      dice.one(
        () => writer.exec(`UPDATE t SET a = ${text()} WHERE id = 1`),
        () => writer.exec(`REPLACE INTO t VALUES (${2 + dice.below(8)}, ${text()})`),
        () => writer.exec(`DELETE FROM t WHERE id = ${2 + dice.below(8)}`),
      )();
    let copied = 0;
    for (let step = 1; step <= 600; step++) {
      dice.one(
        change,
        change,
        change,
        () => writer.exec(`PRAGMA wal_checkpoint(${dice.one("PASSIVE", "FULL", "RESTART", "TRUNCATE")})`),
        // Pages of a transaction that is undone stand in the log as well, where they find no room in memory.
        () => {
          writer.exec("BEGIN");
          for (let at = dice.below(6); at >= 0; at--) change();
          writer.exec(dice.one("ROLLBACK", "COMMIT"));
        },
        // Somebody who reads keeps the log from being begun again.
        () => reader.exec(reader.isTransaction ? "COMMIT" : "BEGIN; SELECT count(*) FROM t"),
        () => {
          if (reader.isTransaction || dice.below(3) > 0) return;
          writer.exec("VACUUM");
          const version = Number(writer.prepare("PRAGMA schema_version").get()?.["schema_version"]);
          call = { ...call, schemaVersion: version };
          world.lookups.learn(world.database.databaseId, call, KEY_READS);
        },
      )();
      const expected = writer.prepare("SELECT a FROM t WHERE id = 1").all().map((row) => [row["a"]]);
      giveSlot(world, step);
      const found = await look({ ...world, call });
      if (found !== null) {
        copied++;
        assertEquals(found, expected, `step ${step}`);
        continue;
      }
      if (reader.isTransaction) reader.exec("COMMIT");
      writer.exec("DELETE FROM t WHERE id > 1; PRAGMA wal_checkpoint(TRUNCATE)");
    }
    assert(copied > 300, `${copied}`);
    for (const one of [writer, reader]) one.close();
  });
});

Deno.test("beside another program that writes all the time, what is read was committed as a whole", async () => {
  await withImage(async (world) => {
    const writer = new Deno.Command(Deno.execPath(), {
      args: ["run", ...startFlags(), new URL("./endless_writer.ts", import.meta.url).pathname, world.path],
      stdout: "piped",
    }).spawn();
    try {
      const said = writer.stdout.getReader();
      await said.read();
      await said.cancel();
      let [copied, different] = [0, new Set<unknown>()];
      for (let turn = 1; turn < 1_000_000 && (copied < 1000 || different.size < 20); turn++) {
        giveSlot(world, turn);
        const [[a] = []] = await look(world) ?? [];
        if (typeof a !== "string") continue;
        copied++;
        different.add(a);
        assertEquals(a, (a[0] ?? "").repeat(20_000));
      }
      assert(copied >= 1000 && different.size >= 20, `${copied}, ${different.size}`);
    } finally {
      writer.kill("SIGKILL");
      await writer.status;
    }
  });
});

Deno.test("what another program writes into a file at rest is seen at once", async () => {
  await withImage(async (world) => {
    await elsewhere(world.path, "UPDATE t SET a = 'elsewhere'");
    assertEquals(await look(world), [["elsewhere"]]);
  });
});

Deno.test("a namespace whose files take long to copy has none copied for a while", async () => {
  await withImage(async (world) => {
    const { clock } = world;
    // Ten milliseconds each, as of a slow disk, are too many once they have taken a tenth of a second twice.
    clock.step = 5;
    let copied = 0;
    while (copied < 200 && await look(world) !== null) copied++;
    assert(copied >= 10 && copied < 60, `${copied}`);
    clock.step = 0;
    assertEquals(await look(world), null);
    clock.ms += 60_000;
    assertEquals(await look(world), [["one"]]);
  });
});

Deno.test("through the store, answers from copies are those of a child, in every form, and each leaves its log row", async () => {
  await withLocalStore(async (store, folder) => {
    const tenant = await Tenant.create(store, ["CREATE TABLE v (id INTEGER PRIMARY KEY, a, b, c, d)"]);
    await tenant.run("write", [[
      "INSERT INTO v VALUES (1, 'x', 1.5, x'00ff', 9007199254740993), (2, 9e999, NULL, '', -1)",
    ]]);
    const sql = "SELECT * FROM v WHERE id = ?";
    const { schemaVersion } = await tenant.database.inspect([]);
    const results = async (textOf: (at: number) => string) => {
      const outcomes = [];
      for (const [at, rowForm] of [PLAIN_ROWS, DIGIT_ROWS, TYPED_ROWS].entries()) {
        for (const id of [1, 2, 3]) {
          const statements = [[textOf(3 * at + id), id]] as const;
          outcomes.push(
            await tenant.database.run(tenantCall(schemaVersion, "read", statements, { rowForm })),
          );
        }
      }
      return outcomes.map((outcome) => outcome.ok === true ? outcome.results : outcome);
    };
    // A text with more blanks is another one, which a child answers first.
    const byChild = await results((at) => sql + " ".repeat(at));
    assertEquals(store.lookups?.answered, 0);
    await results(() => sql);
    const before = store.lookups?.answered ?? NaN;
    assertEquals(await results(() => sql), byChild);
    const withLog = store.lookups?.answered ?? NaN;
    // Where rows of the log are just being written, a child answers.
    assert(withLog > before, "children answered");
    // Children close it, and nobody else has it open.
    await store.flushLog(store.lanes({ databaseId: tenant.id, namespaceId: "ns_1" }));
    const rest = await store.task({ op: "rest", db: tenant.id }, "write", "ns_1");
    assertEquals(rest.reply.t, "rested", JSON.stringify(rest.reply));
    assertEquals(await results(() => sql), byChild);
    assert((store.lookups?.answered ?? 0) > withLog, "children answered at rest");
    assertEquals(
      await Deno.stat(`${databasePath(`${folder}/tenants`, tenant.id)}-wal`).catch(() => null),
      null,
    );
    const count = await tenant.database.run(
      tenantCall(schemaVersion, "read", [[
        "SELECT count(*) FROM _service_meta_query_log WHERE operation = 'query'",
      ]], {
        readsLog: true,
      }),
    );
    assertEquals(rowsOf(count), [[4 * byChild.length + 2]]);
  }, { lookupBytes: 0 });
});

Deno.test("copies leave no memory behind, and what they use of the processor is told, under the permissions of `deno task start`", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_images_" });
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", ...startFlags(), new URL("./image_memory.ts", import.meta.url).pathname, folder],
    stderr: "inherit",
  }).output();
  await Deno.remove(folder, { recursive: true });
  const { rows, megabytes, cpuMs } = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals(rows, ["one"]);
  assert(megabytes < 100, `${megabytes} MB for 20,000 copies of 60 kB`);
  assert(cpuMs > 20, `${cpuMs} ms of the processor`);
});
