// Calls that must not run twice, as KV knows them: who may run one, who waits, what is left when it ends.
import { assert, assertEquals } from "@std/assert";
import { DAY_MS } from "../../lib/core/clock.ts";
import { type Claim, type ReplayClaim, Replays, type ReplayScope } from "../../lib/control/replays.ts";
import { keys } from "../../lib/store/keys.ts";
import { failureCode } from "../replay/keyed.ts";
import { failingKv } from "../replay/second_app.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const SCOPE: ReplayScope = { key: "k", requestHash: "h" };
const OTHER: ReplayScope = { key: "k", requestHash: "other" };
const bytes = (text: string) => new TextEncoder().encode(text);

interface World {
  readonly kv: Deno.Kv;
  readonly clock: TurnableClock;
  down: boolean;
  /** Another process over the same KV. */
  replays(): Replays;
}

async function withKv(body: (world: World) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const clock = new TurnableClock();
  const world: World = {
    ...{ kv, clock, down: false },
    replays: () => new Replays(failingKv(kv, () => world.down), clock),
  };
  try {
    await body(world);
  } finally {
    kv.close();
  }
}

function claimOf(claimed: ReplayClaim): Claim {
  assert(claimed.state === "claimed", claimed.state);
  return claimed.claim;
}

Deno.test("claim() gives a call to one process and tells the others that it runs", async () => {
  await withKv(async (world) => {
    const processes = Array.from({ length: 12 }, () => world.replays());
    const claims = await Promise.all(processes.map((one) => one.claim(SCOPE)));
    const states = claims.map(({ state }) => state).sort();
    assertEquals([states[0], new Set(states.slice(1))], ["claimed", new Set(["running"])]);
    // Should it fail, the other request may run.
    const elsewhere = processes[claims.findIndex(({ state }) => state === "running")];
    assertEquals((await elsewhere?.claim(OTHER))?.state, "running");
    for (const claim of claims) if (claim.state === "claimed") await claim.claim.release();
  });
});

Deno.test("claim() in the process that runs the call waits for its end and gets its answer", async () => {
  await withKv(async (world) => {
    const replays = world.replays();
    const claim = claimOf(await replays.claim(SCOPE));
    const waiting = Array.from({ length: 20 }, () => replays.claim(SCOPE));
    const other = replays.claim(OTHER);
    await claim.store(bytes("answer"));
    assertEquals((await other).state, "mismatch");
    for (const found of await Promise.all(waiting)) {
      assert(found.state === "stored");
      assertEquals(new TextDecoder().decode(found.answer), "answer");
    }
  });
});

Deno.test("claim() lets another request run where the one before it has left nothing", async () => {
  await withKv(async (world) => {
    const replays = world.replays();
    const failed = claimOf(await replays.claim(SCOPE));
    const waiting = replays.claim(OTHER);
    await failed.release();
    const claim = claimOf(await waiting);
    await claim.store(bytes("other"));
    assertEquals((await replays.claim(SCOPE)).state, "mismatch");
  });
});

Deno.test("release() lets one of those who wait run, and it leaves nothing", async () => {
  await withKv(async (world) => {
    const replays = world.replays();
    let running = claimOf(await replays.claim(SCOPE));
    const waiting = Array.from({ length: 5 }, () => replays.claim(SCOPE));
    for (let round = 0; round < 5; round++) {
      await running.release();
      // They come in the order in which they wait.
      running = claimOf(await (waiting[round] ?? replays.claim(SCOPE)));
      assertEquals((await world.replays().claim(SCOPE)).state, "running");
    }
    await running.release();
    assertEquals((await Array.fromAsync(world.kv.list({ prefix: [] }))).length, 0);
  });
});

Deno.test("the first end of a claim counts", async () => {
  await withKv(async (world) => {
    const replays = world.replays();
    const claim = claimOf(await replays.claim(SCOPE));
    await claim.store(bytes("first"));
    await claim.release();
    await claim.store(bytes("second"));
    await claim.storedByTenant();
    const found = await replays.find(SCOPE);
    assertEquals(found.state === "stored" && new TextDecoder().decode(found.answer), "first");
  });
});

Deno.test("an answer is found for a day, whole, by its own request only", async () => {
  await withKv(async (world) => {
    const replays = world.replays();
    for (const [at, length] of [0, 1, 61_440, 61_441, 3_000_000].entries()) {
      const scope = { key: `k${at}`, requestHash: "h" };
      const answer = new Uint8Array(length).map((_, index) => index * 31);
      await claimOf(await replays.claim(scope)).store(answer);
      const found = await world.replays().find(scope);
      assert(found.state === "stored");
      assertEquals(
        found.answer.length === length && found.answer.every((byte, i) => byte === answer[i]),
        true,
      );
      assertEquals((await replays.find({ ...scope, requestHash: "x" })).state, "mismatch");
    }
    world.clock.turn(DAY_MS - 60_000);
    assertEquals((await replays.find({ key: "k0", requestHash: "h" })).state, "stored");
    world.clock.turn(60_000);
    assertEquals((await replays.find({ key: "k0", requestHash: "h" })).state, "free");
    assertEquals((await replays.find({ key: "k0", requestHash: "x" })).state, "free");
    await claimOf(await replays.claim({ key: "k0", requestHash: "x" })).release();
  });
});

Deno.test("an answer with a piece missing counts as none", async () => {
  await withKv(async (world) => {
    const replays = world.replays();
    await claimOf(await replays.claim(SCOPE)).store(new Uint8Array(200_000));
    const pieces = await Array.fromAsync(world.kv.list({ prefix: ["replay_piece"] }));
    assertEquals(pieces.length, 4);
    await world.kv.delete(pieces[2]?.key ?? []);
    assertEquals((await replays.find(SCOPE)).state, "free");
    await claimOf(await replays.claim(SCOPE)).store(bytes("again"));
    assertEquals((await replays.find(SCOPE)).state, "stored");
  });
});

Deno.test("a note that the tenant keeps the answer is found as such", async () => {
  await withKv(async (world) => {
    const replays = world.replays();
    await claimOf(await replays.claim(SCOPE)).storedByTenant();
    assertEquals((await replays.find(SCOPE)).state, "tenant");
    assertEquals((await world.replays().claim(SCOPE)).state, "tenant");
    assertEquals((await replays.claim(OTHER)).state, "mismatch");
  });
});

Deno.test("the claim of a silent process is taken over after its lease, and its late end changes nothing", async () => {
  await withKv(async (world) => {
    const [dead, heir] = [world.replays(), world.replays()];
    const late = claimOf(await dead.claim(SCOPE));
    for (const passedMs of [0, 15_000, 14_500]) {
      world.clock.turn(passedMs);
      assertEquals((await heir.claim(SCOPE)).state, "running");
    }
    const done = world.kv.atomic().set(["done"], "late");
    await late.storeIn(done, bytes("late"));
    world.clock.turn(500);
    const claim = claimOf(await heir.claim(SCOPE));
    // Neither is done what the late one has begun, nor can it begin anything.
    assertEquals((await done.commit()).ok, false);
    const begin = () => late.storeIn(world.kv.atomic(), bytes("late"));
    assertEquals(await failureCode(begin), "replay_running");
    await late.store(bytes("late"));
    assertEquals((await world.replays().claim(SCOPE)).state, "running");
    await claim.store(bytes("heir"));
    const found = await world.replays().find(SCOPE);
    assertEquals(found.state === "stored" && new TextDecoder().decode(found.answer), "heir");
  });
});

Deno.test("a claim ends by what its heir has watched: it outlives a clock that is ahead and every sign of life", async () => {
  await withKv(async (world) => {
    const ahead = new TurnableClock();
    ahead.turn(90_000);
    const heir = new Replays(world.kv, ahead);
    const living = claimOf(await world.replays().claim(SCOPE));
    for (let round = 0; round < 3; round++) {
      assertEquals((await heir.claim(SCOPE)).state, "running");
      ahead.turn(29_000);
      assertEquals((await heir.claim(SCOPE)).state, "running");
      // A sign of life writes the record again.
      const { key, value } = await world.kv.get(keys.replay(SCOPE.key));
      await world.kv.set(key, value);
    }
    await living.release();
    await claimOf(await heir.claim(SCOPE)).release();
  });
});

Deno.test("a claim whose end is long past, or past in a KV that nobody else uses, holds nobody up", async () => {
  await withKv(async (world) => {
    for (
      const [passedMs, isAlone, state] of [[31_000, false, "running"], [31_000, true, "claimed"], [
        640_000,
        false,
        "claimed",
      ]] as const
    ) {
      const scope = { key: `${passedMs} ${isAlone}`, requestHash: "h" };
      const late = claimOf(await world.replays().claim(scope));
      world.clock.turn(passedMs);
      const heir = await new Replays(world.kv, world.clock, { isAlone }).claim(scope);
      assertEquals([scope.key, heir.state], [scope.key, state]);
      if (heir.state === "claimed") await heir.claim.release();
      await late.release();
    }
  });
});

Deno.test("an end is noted although a sign of life gets in between", async () => {
  await withKv(async (world) => {
    for (const end of ["store", "storedByTenant", "release"] as const) {
      const scope = { key: end, requestHash: "h" };
      // Changes the record between the claim's own reading and writing, as its renewal would.
      let between = async () => {};
      const kv = failingKv(world.kv, () => false);
      const raced = new Proxy(kv, {
        get: (target, name) => async (...input: unknown[]) => {
          const found = await Reflect.apply(Reflect.get(target, name), target, input);
          if (name === "get") await between();
          return found;
        },
      });
      const mixed = new Proxy(kv, {
        get: (target, name) => Reflect.get(name === "get" ? raced : target, name),
      });
      const claim = claimOf(await new Replays(mixed, world.clock).claim(scope));
      between = async () => {
        between = async () => {};
        const found = await world.kv.get(keys.replay(end));
        await world.kv.set(found.key, found.value);
      };
      await (end === "store" ? claim.store(bytes("x")) : claim[end]());
      const { state } = await world.replays().find(scope);
      assertEquals([end, state], [end, { store: "stored", storedByTenant: "tenant", release: "free" }[end]]);
    }
  });
});

Deno.test("while KV is away nothing is claimed or found, and a claim that ends then is held by its lease alone", async () => {
  await withKv(async (world) => {
    const replays = world.replays();
    world.down = true;
    for (const call of [() => replays.find(SCOPE), () => replays.claim(SCOPE)]) {
      assertEquals(await failureCode(call), "meter_unreachable");
    }
    world.down = false;
    const ended = claimOf(await replays.claim(SCOPE));
    const released = claimOf(await replays.claim({ key: "r", requestHash: "h" }));
    world.down = true;
    assertEquals(await failureCode(() => ended.store(bytes("x"))), "meter_unreachable");
    await released.release();
    world.down = false;
    const scopes = [SCOPE, { key: "r", requestHash: "h" }];
    for (const scope of scopes) assertEquals((await replays.claim(scope)).state, "running");
    world.clock.turn(31_000);
    for (const scope of scopes) {
      await claimOf(await replays.claim(scope)).release();
    }
  });
});

Deno.test("claim() refuses a call that has run in another database, and takes one of an earlier version wherever it ran", async () => {
  await withKv(async (world) => {
    const replays = world.replays();
    const placed = { key: "placed", requestHash: "h" };
    await claimOf(await replays.claim(placed, "db_1")).store(bytes("answer"));
    assertEquals((await replays.claim(placed, "db_1")).state, "stored");
    assertEquals((await replays.claim(placed, "db_2")).state, "mismatch");
    await claimOf(await replays.claim(SCOPE)).store(bytes("answer"));
    assertEquals((await replays.claim(SCOPE, "db_1")).state, "stored");
  });
});
