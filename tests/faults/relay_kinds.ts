// Every kind of call that writes rows, prepared so that one request does it.
import { assert, assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { member, type TestDatabase } from "../testing/test_namespace.ts";
import type { RelayWorld } from "./relay_world.ts";

export interface Kind {
  /** Rows that the call adds to `t`. */
  readonly rows: number;
  /** Which befall each of its requests; all unless given. */
  readonly faults?: readonly string[];
  /** After `outcome_unknown` the same request still answers what became of it. */
  readonly keyed?: boolean;
  /** Whatever it was told, a second request never runs the write a second time. */
  readonly single?: boolean;
  prepare(world: RelayWorld, database: TestDatabase): Promise<() => Promise<ApiAnswer>>;
}

const sql = "INSERT INTO t (a) VALUES (?)";
const statements = [{ sql, params: [1] }, { sql, params: [2] }];

export const kinds: Readonly<Record<string, Kind>> = {
  "a statement": {
    rows: 1,
    prepare: simple((world, database) => world.post(database, "query", { sql, params: [1] })),
  },
  "a keyed statement": {
    ...{ rows: 1, keyed: true, single: true },
    prepare: simple((world, database) =>
      world.post(database, "query", { sql, params: [1] }, { "idempotency-key": "one" })
    ),
  },
  "a batch": {
    rows: 2,
    prepare: simple((world, database) => world.post(database, "batch", { statements, transaction: false })),
  },
  "a transaction": {
    rows: 2,
    prepare: simple((world, database) => world.post(database, "batch", { statements, transaction: true })),
  },
  "an apply": {
    ...{ rows: 1, single: true },
    prepare: async (world, database) => {
      const proposed = await world.post(database, "propose", { sql, params: [1] });
      const executionToken = member(ok(proposed), "executionToken");
      return () => world.post(database, "apply", { executionToken });
    },
  },
  "a mutation under /p": {
    rows: 1,
    prepare: async (world, database) => {
      const { app, tenant } = world;
      const path = `/api/namespaces/${tenant.slug}/databases/${database.slug}/endpoints`;
      const body = {
        ...{ slug: "add", name: "Add", kind: "mutation", method: "POST", sql, output: "rows_written" },
        input: [{ name: "a", type: "integer", required: true }],
      };
      ok(await app.request("POST", path, { token: tenant.token, body }));
      ok(await app.request("POST", `${path}/add/publish`, { token: tenant.token }));
      return () => app.request("POST", `/p/${tenant.slug}/${database.slug}/add`, { body: { a: 1 } });
    },
  },
  "a redeemed approval": {
    ...{ rows: 1, single: true },
    prepare: async (world, database) => {
      const { app, tenant } = world;
      const path = `/api/namespaces/${tenant.slug}/databases/${database.slug}/rules`;
      const body = { tableGlob: "t", effect: "require_approval" };
      ok(await app.request("POST", path, { token: tenant.token, body }));
      const { approvalToken, approvalUrl } = await heldWith(world, database, 1);
      const decide = `/api/namespaces/${tenant.slug}/approvals/${approvalUrl.split("/").at(-1)}/approve`;
      ok(await app.request("POST", decide, { token: app.operatorKey }));
      return () => world.post(database, "redeem_approval", { approvalToken });
    },
  },
  "a merge": {
    rows: 1,
    // It has many requests, and needs three databases each time.
    faults: ["cut before it arrived", "answer cut", "cut, and there a little later", "twice"],
    prepare: async (world, database) => {
      ok(await world.post(database, "claim_branch", { purpose: "a test", ref: "one" }));
      ok(await world.post({ path: `${database.path}@one` }, "query", { sql, params: [1] }));
      return () => world.post(database, "branches/one/merge", { mode: "data", onConflict: "abort" });
    },
  },
};

/** A held INSERT whose rows are known: a machine that is busy for long may have had no time to look at them. */
async function heldWith(world: RelayWorld, database: TestDatabase, rows: number) {
  const { app, tenant } = world;
  for (let tries = 1;; tries++) {
    const held = JSON.parse((await world.post(database, "query", { sql, params: [1] })).text);
    const path = `/api/namespaces/${tenant.slug}/approvals?state=pending`;
    const { text } = ok(await app.request("GET", path, { token: app.operatorKey }));
    const { data }: { data: { id: string; affectedRows: number | null }[] } = JSON.parse(text);
    const known = data.find(({ id }) => held.approvalUrl.endsWith(id))?.affectedRows;
    if (known === rows) return held;
    assert(tries < 5, text);
  }
}

function simple(send: (world: RelayWorld, database: TestDatabase) => Promise<ApiAnswer>): Kind["prepare"] {
  return (world, database) => Promise.resolve(() => send(world, database));
}

function ok(answer: ApiAnswer): ApiAnswer {
  assert(answer.status === 200 || answer.status === 201, answer.text);
  assertEquals(answer.body.success, true);
  return answer;
}
