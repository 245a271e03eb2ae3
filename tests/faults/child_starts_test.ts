// Engine children that cannot start: the store tries again, each time later, and says so once.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { configFromEnvironment } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { type Log, silentLog } from "../../lib/core/log.ts";
import { newId } from "../../lib/core/ids.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import { pause } from "../../lib/core/pause.ts";
import { killChildren } from "../testing/engine_children.ts";

/** A store each of whose children is started by a shell that runs the command first. */
async function storeBehind(
  dataDirectory: string,
  command: string,
  more: Partial<Parameters<typeof createLocalStore>[0]>,
) {
  await Deno.writeTextFile(`${dataDirectory}/sh`, `#!/bin/sh\n${command}\nexec /bin/sh "$@"\n`, {
    mode: 0o700,
  });
  const PATH = `${dataDirectory}:${Deno.env.get("PATH") ?? ""}`;
  return await createLocalStore({
    ...{ dataDirectory, queryTimeoutMs: 20_000, logDays: 30, snapshotDays: 7, clock: systemClock },
    ...{ log: silentLog, parentTie: "watcher" },
    engineEnvironment: { ...configFromEnvironment().engineEnvironment, PATH },
    ...more,
  });
}

Deno.test("a child that cannot start is tried again some times and told once, and what waits runs when one can", async () => {
  if (Deno.build.os !== "linux") return;
  const dataDirectory = await Deno.makeTempDir();
  const [closed, starts] = [`${dataDirectory}/closed`, `${dataDirectory}/starts`];
  const events: string[] = [];
  const command = `if [ -e ${closed} ]; then echo x >> ${starts}; exit 1; fi`;
  const store = await storeBehind(dataDirectory, command, {
    log: (_level, event) => void events.push(event),
  });
  try {
    const databaseId = newId("db", systemClock.now());
    await store.create(databaseId);
    await Deno.writeTextFile(closed, "");
    assert(await killChildren(dataDirectory) > 0);
    const asks = async () => {
      const database = store.open({ databaseId, namespaceId: "" });
      for (let done = false; !done;) {
        done = await database.write([{ sql: "CREATE TABLE t (a)", params: [] }]).then(
          () => true,
          () => false,
        );
      }
    };
    const waits = asks();
    const startsUntilNow = async () => (await Deno.readTextFile(starts)).trim().split("\n").length;
    await assertRejects(() => store.open({ databaseId, namespaceId: "" }).inspect([]));
    assert(await startsUntilNow() < 8, "a question waits for many starts");
    await pause(2500);
    const tried = await startsUntilNow();
    assert(tried > 1 && tried < 8, `${tried} starts`);
    await Deno.remove(closed);
    await waits;
    assertEquals(events.filter((event) => event === "engine_child_not_started").length, 1);
  } finally {
    await store.close();
    await Deno.remove(dataDirectory, { recursive: true });
  }
});

Deno.test("the start of a child counts for no statement, however long it takes", async () => {
  if (Deno.build.os !== "linux") return;
  const dataDirectory = await Deno.makeTempDir();
  const slow = `${dataDirectory}/slow`;
  const command = `if [ -e ${slow} ]; then sleep 3; fi`;
  const { promise: killed, resolve } = Promise.withResolvers<string>();
  const log: Log = (_level, event, { reason } = {}) => {
    if (event === "engine_child_ended" && reason === "timeout") resolve(event);
  };
  const store = await storeBehind(dataDirectory, command, { queryTimeoutMs: 1000, log });
  try {
    const databaseId = newId("db", systemClock.now());
    await store.create(databaseId);
    await Deno.writeTextFile(slow, "");
    assert(await killChildren(dataDirectory) > 0);
    const asked = store.open({ databaseId, namespaceId: "" }).inspect([{
      sql: "SELECT 1",
      changesSchema: false,
    }]);
    assertEquals(await Promise.race([asked.then(({ failure }) => failure), killed]), null);
  } finally {
    await store.close();
    await Deno.remove(dataDirectory, { recursive: true });
  }
});
