// Memory of a service that nobody calls goes back to the system, and nobody who calls waits for that.
import { assert, assertEquals } from "@std/assert";
import { IDLE_LOOK_MS, IdleMemory } from "../../lib/guard/idle_memory.ts";
import { startFlags } from "../testing/start_permissions.ts";

const MB = 1024 * 1024;

/** A process whose figures the test sets. */
class FakeProcess {
  usedMs = 0;
  heap = 46 * MB;
  collections = 0;

  cpuMs(): number {
    return this.usedMs;
  }

  heapBytes(): number {
    return this.heap;
  }

  readonly collect = () => {
    this.collections++;
    this.heap = 30 * MB;
  };
}

Deno.test("garbage is collected when nobody has called between two looks, and again when it is worth it", () => {
  const own = new FakeProcess();
  const memory = new IdleMemory(own);
  memory.noteCall();
  memory.look();
  assertEquals(own.collections, 0);
  own.usedMs += 10;
  memory.look();
  assertEquals(own.collections, 1);
  own.heap += 7 * MB;
  memory.look();
  assertEquals(own.collections, 1);
  own.heap += MB;
  memory.noteCall();
  memory.look();
  assertEquals(own.collections, 1);
  memory.look();
  assertEquals(own.collections, 2);
});

Deno.test("what a start has read of a long spool is collected at once, what every start leaves is not", () => {
  const own = new FakeProcess();
  new IdleMemory(own).noteStart();
  assertEquals(own.collections, 0);
  own.heap = 64 * MB;
  const memory = new IdleMemory(own);
  memory.noteStart();
  assertEquals(own.collections, 1);
  own.heap += 7 * MB;
  for (let look = 0; look < 3; look++) memory.look();
  assertEquals(own.collections, 1);
});

Deno.test("what was compiled for a load is kept for a minute behind it", () => {
  const own = new FakeProcess();
  const memory = new IdleMemory(own);
  for (let call = 0; call < 1000; call++) memory.noteCall();
  memory.look();
  for (let passedMs = IDLE_LOOK_MS; passedMs < 60_000; passedMs += IDLE_LOOK_MS) memory.look();
  assertEquals(own.collections, 0);
  memory.look();
  assertEquals(own.collections, 1);
});

Deno.test("somebody who asks for the health every ten seconds keeps no garbage, however long that goes on", () => {
  const own = new FakeProcess();
  const memory = new IdleMemory(own);
  for (let call = 0; call < 1000; call++) memory.noteCall();
  for (let passedMs = 0; passedMs < 3_600_000; passedMs += 2 * IDLE_LOOK_MS) {
    memory.noteCall();
    memory.look();
    memory.look();
  }
  assertEquals(own.collections, 1);
  own.heap += 8 * MB;
  memory.look();
  assertEquals(own.collections, 2);
});

Deno.test("a process that works without being called is not at rest", () => {
  const own = new FakeProcess();
  const memory = new IdleMemory(own);
  memory.look();
  for (let look = 0; look < 5; look++) {
    own.usedMs += IDLE_LOOK_MS / 15;
    memory.look();
  }
  assertEquals(own.collections, 0);
  memory.look();
  assertEquals(own.collections, 1);
});

Deno.test("with the flags of `deno task start` a collection gives pages back to the system, without them nothing is collected", async () => {
  const script = `
    import { IdleMemory, ownProcess } from "${import.meta.resolve("../../lib/guard/idle_memory.ts")}";
    let kept = Array.from({ length: 1_000_000 }, (_, at) => ({ at }));
    const own = ownProcess();
    const memory = new IdleMemory({ ...own, cpuMs: () => 0 });
    const before = Deno.memoryUsage().rss;
    kept = [];
    memory.look();
    memory.look();
    console.log(JSON.stringify({ mb: (before - Deno.memoryUsage().rss) / 1e6, can: own.collect !== null, ms: own.cpuMs() }));
  `;
  const given = async (args: readonly string[]): Promise<{ mb: number; can: boolean; ms: number }> => {
    const path = await Deno.makeTempFile({ suffix: ".ts" });
    try {
      await Deno.writeTextFile(path, script);
      const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["run", ...args, path] }).output();
      return JSON.parse(new TextDecoder().decode(stdout));
    } finally {
      await Deno.remove(path);
    }
  };
  const started = await given(startFlags());
  assert(started.can && started.mb > 20 && started.ms > 0, JSON.stringify(started));
  const without = await given([]);
  assert(!without.can && without.mb < 10, JSON.stringify(without));
});
