// Branches, merges, snapshots and restores on two instances, through relays that do something to one request of each, and
// that double every removal: whatever was answered is there once, and the control plane, the catalogue and the server agree
// about what there is.
import { assert, assertEquals } from "@std/assert";
import { print } from "../testing/print.ts";
import { rounds } from "../testing/rounds.ts";
import { type Answer, type Instances, withInstances } from "./instances_world.ts";
import type { Between } from "../testing/relay.ts";
import { type Fault, faults } from "./relay_faults.ts";
import { pause } from "../../lib/core/pause.ts";

const MAIN = "/v1/db/acme/main";
const tried: readonly string[] = ["cut before it arrived", "answer cut", "late"];
const FAULTS = rounds(2, 40);
/** Milliseconds until the same request must have been answered well. */
const AGAIN_MS = 90_000;
const GONE_WITHIN_MS = 90_000;
/** Every removal arrives once more behind its answer, beside whatever is done then. */
function doubled(): { readonly between: Between; readonly removals: () => number } {
  let removals = 0;
  const between: Between = async ({ route }, go) => {
    if (!route.startsWith("DELETE ")) return await go();
    const answer = await go("alone");
    removals++;
    void go("alone").catch(() => {});
    return answer;
  };
  return { between, removals: () => removals };
}

/** Does the fault to one request for each address's, of those that come while the work is done. */
async function under<T>(
  { data, admin }: Instances,
  { at, fault }: { readonly at: number; readonly fault: Fault | null },
  work: () => Promise<T>,
): Promise<T> {
  let seen = 0;
  const before = [data.between, admin.between] as const;
  const faulty = (otherwise: Between | null): Between => (request, go, cut) =>
    seen++ === at && fault !== null ? fault(go, cut) : otherwise?.(request, go, cut) ?? go();
  [data.between, admin.between] = [faulty(data.between), faulty(admin.between)];
  try {
    return await work();
  } finally {
    [data.between, admin.between] = before;
  }
}

/** Asks again, the other instance each time, until it is done; `done`: codes that say that it was done before. */
async function untilDone(
  ask: (at: number) => Promise<Answer>,
  done: readonly string[] = [],
): Promise<Answer> {
  const startMs = performance.now();
  for (let at = 1;; at++) {
    const answer = await ask(at);
    const isDone = answer.status === 200 || answer.status === 201 || done.includes(answer.code ?? "");
    if (isDone) return answer;
    const about = `${answer.status} ${answer.code} ${JSON.stringify(answer.data)}`;
    assert([0, 503].includes(answer.status) && performance.now() - startMs < AGAIN_MS, about);
    await pause(200);
  }
}

Deno.test("branches, merges, snapshots and restores are there as they were answered, whatever befell a request; nothing is orphaned", async () => {
  await withInstances(async (world) => {
    const { ask, query } = world;
    const { between, removals } = doubled();
    world.admin.between = between;
    assertEquals((await query(0, "main", "CREATE TABLE k (id INTEGER PRIMARY KEY)")).status, 200);
    const count = async (sql: string) => {
      const { data } = await untilDone((at) => query(at, "main", sql));
      return Array.isArray(data?.rows) ? data.rows[0]?.[0] : null;
    };
    const merges = "SELECT count(*) FROM _service_meta_audit WHERE operation = 'merge'";
    const before = new Set(await world.catalog("SELECT place FROM tenant"));
    const answers: string[] = [];
    let cases = 0;
    const step = async (
      about: { readonly at: number; readonly fault: Fault | null },
      call: (at: number) => Promise<Answer>,
      done: readonly string[] = [],
    ) => {
      const first = await under(world, about, () => call(0));
      answers.push(`${first.status} ${first.code ?? ""}`);
      assert(first.status !== 404, answers.at(-1));
      const known = first.status === 200 || first.status === 201;
      if (!known) await untilDone(call, done);
    };
    for (let n = 0; n < FAULTS * tried.length; n++) {
      const about = {
        at: Math.floor(n / tried.length) * 3 + n % 3,
        fault: faults[tried[n % tried.length] ?? ""] ?? null,
      };
      const ref = `b${n}`;
      const branch = `main@${ref}`;
      cases++;
      await step(about, (at) => ask(at, "POST", `${MAIN}/claim_branch`, { purpose: "a test", ref }));
      await step(about, (at) => ask(at, "POST", `${MAIN}/branches/${ref}/reset`, {}));
      await untilDone((at) => query(at, branch, `INSERT OR IGNORE INTO k VALUES (${n})`));
      const merged = Number(await count(merges));
      const merge = { mode: "data", onConflict: "abort" };
      await step(about, (at) => ask(at, "POST", `${MAIN}/branches/${ref}/merge`, merge));
      const said = `case ${n}: ${answers.slice(-3)}`;
      assertEquals(await count("SELECT count(*) FROM k"), n + 1, said);
      assert(Number(await count(merges)) > merged, said);
      await untilDone((at) => query(at, branch, `DELETE FROM t WHERE a = ${n}`));
      await untilDone((at) => query(at, branch, `INSERT INTO t VALUES (${n})`));
      await step(about, (at) => ask(at, "POST", `${MAIN}/snapshots`, { label: `s${n}` }), ["slug_taken"]);
      await step(about, (at) => ask(at, "DELETE", `${MAIN}/branches/${ref}`), ["branch_not_found"]);
      await untilDone((at) => query(at, "main", `INSERT INTO t VALUES (${n})`));
      await step(about, (at) => ask(at, "POST", `${MAIN}/restore`, { snapshot: `s${n}` }));
      const left = await untilDone((at) => query(at, "main", "SELECT count(*) FROM t"));
      assertEquals(left.data?.rows, [[0]], `case ${n}: ${answers.slice(-5)}`);
    }
    await assertAgree(world, before);
    assert(removals() > 0, "nothing was removed");
    print(
      `${cases} cases: ${
        Object.entries(Object.groupBy(answers, (one) => one)).map(([one, all]) => `${one} ${all?.length}`)
      }`,
    );
  });
});

/** The control plane lists what the catalogue has, and the server has it and what is noted as orphaned. */
async function assertAgree(world: Instances, databases: ReadonlySet<string>): Promise<void> {
  for (const startMs = performance.now();; await pause(200)) {
    const tenants = await world.catalog("SELECT place FROM tenant");
    const owned = await world.catalog(
      "SELECT place FROM tenant UNION ALL SELECT place FROM ancestor UNION ALL SELECT place FROM snapshot",
    );
    const orphans = await world.catalog("SELECT place FROM loose");
    const there = new Set(world.locations());
    const wrong = {
      lost: owned.filter((one) => !there.has(one)),
      twice: owned.filter((one, at) => owned.indexOf(one) !== at || orphans.includes(one)),
      unknown: [...there].filter((one) => !owned.includes(one) && !orphans.includes(one)),
      // No branch is left.
      unlisted: tenants.length - databases.size,
      left: await world.catalog("SELECT place FROM loose WHERE since = 0"),
      copies: await world.catalog("SELECT place FROM copying"),
    };
    const right = { lost: [], twice: [], unknown: [], unlisted: 0, left: [], copies: [] };
    if (JSON.stringify(wrong) === JSON.stringify(right)) return;
    if (performance.now() - startMs > GONE_WITHIN_MS) return assertEquals(wrong, right);
  }
}
