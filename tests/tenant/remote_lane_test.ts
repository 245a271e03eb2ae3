// The lane of writes of a remote database, whose calls do not wait for ever behind a server that has gone silent.
import { assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { Lane } from "../../lib/tenant/remote/calls/lane.ts";
import type { CallJob } from "../../lib/tenant/remote/calls/write_call.ts";
import type { TenantOutcome } from "../../lib/tenant/tenant_store.ts";
import { tenantCall } from "../contracts/tenant_store.ts";
import { failureOf } from "./sqld_world.ts";

const ran: TenantOutcome = { ok: true, results: [], durationMs: 0, rowsReadBasis: "engine" };

Deno.test("a call that has waited too long for its turn is database_busy, never runs, and the rest goes on", async () => {
  const silent = Promise.withResolvers<void>();
  const begun: CallJob[] = [];
  const lane = new Lane(
    async (jobs) => {
      begun.push(...jobs);
      if (begun.length === 1) await silent.promise;
      for (const job of jobs) job.resolve(ran);
    },
    () => Promise.resolve(true),
    systemClock,
    50,
  );
  const call = (sql: string) =>
    new Promise<TenantOutcome>((resolve, reject) =>
      lane.addCall({ call: tenantCall(1, "write", [[sql]]), resolve, reject, signal: null })
    );
  const first = call("first");
  await Promise.resolve();
  await Promise.resolve();
  const task = lane.addTask(() => Promise.resolve("done"));
  const late = await Promise.all([failureOf(() => call("second")), failureOf(() => call("third"))]);
  assertEquals(late.map(({ code, retryAfterSec }) => [code, retryAfterSec]), [
    ["database_busy", 1],
    ["database_busy", 1],
  ]);
  silent.resolve();
  assertEquals([(await first).ok, await task, (await call("fourth")).ok], [true, "done", true]);
  await lane.drained;
  assertEquals(begun.map(({ call }) => call.statements[0]?.sql), ["first", "fourth"]);
});

Deno.test("calls that wait travel together, but for a repetition of one of them and what has a transaction of its own", async () => {
  const groups: (string | undefined)[][] = [];
  const lane = new Lane(
    (jobs) => {
      groups.push(jobs.map(({ call }) => call.statements[0]?.sql));
      for (const job of jobs) job.resolve(ran);
      return Promise.resolve();
    },
    () => Promise.resolve(true),
    systemClock,
  );
  const replay = { keys: [{ key: "k", requestHash: "h" }], nowMs: 0, expiresAtMs: 1, context: "" };
  const calls = [
    tenantCall(1, "write", [["first"]]),
    tenantCall(1, "write", [["keyed"]], { replay }),
    tenantCall(1, "write", [["third"]]),
    tenantCall(1, "write", [["repeated"]], { replay }),
    tenantCall(1, "schema", [["schema"]]),
    tenantCall(1, "write", [["last"]]),
  ];
  await Promise.all(
    calls.map((call) =>
      new Promise((resolve, reject) => lane.addCall({ call, resolve, reject, signal: null }))
    ),
  );
  await lane.drained;
  assertEquals(groups, [["first", "keyed", "third"], ["repeated"], ["schema"], ["last"]]);
});
