// Which engine child ends where all of them together hold more memory than they may.
import { assertEquals } from "@std/assert";
import type { LaneFlight } from "../../lib/tenant/local/pool/child_slot.ts";
import type { EngineChild } from "../../lib/tenant/local/pool/engine_child.ts";
import { overMemory } from "../../lib/tenant/local/pool/over_memory.ts";

const MB = 1024 * 1024;

interface Child {
  readonly name: string;
  readonly child: Pick<EngineChild, "report">;
  readonly flight: Pick<LaneFlight, "killed" | "work"> | null;
  readonly leaving: boolean;
  readonly toClose: [];
}

/** A child that holds so much; `kind` null: it has nothing to do. */
function child(name: string, megabytes: number, kind: "read" | "write" | null = null): Child {
  const report = () => ({
    residentBytes: megabytes * MB,
    cpuMs: 0,
    count: 1,
    progress: null,
    writtenBytes: 0,
  });
  const flight = kind && { work: { kind, jobs: [], logRows: [] }, killed: null };
  return { name, child: { report }, flight, leaving: false, toClose: [] };
}

function ended(slots: readonly Child[], maxMegabytes: number): string | null {
  return overMemory(slots, maxMegabytes * MB)?.name ?? null;
}

Deno.test("within the bound no child ends, and above it the largest idle one does, before any that reads", () => {
  const slots = [
    child("reads", 300, "read"),
    child("idle", 150),
    child("larger", 200),
    child("writes", 350, "write"),
  ];
  assertEquals([ended(slots, 1000), ended(slots, 999)], [null, "larger"]);
});

Deno.test("where no idle child is large the one with the largest read ends, and never one that writes", () => {
  const slots = [child("idle", 127), child("small", 200, "read"), child("large", 300, "read")];
  assertEquals(ended([...slots, child("writes", 600, "write")], 500), "large");
  assertEquals(ended([child("idle", 127), child("writes", 600, "write")], 500), null);
});

Deno.test("a child that is being ended already counts for nothing, and one that has said nothing yet holds nothing", () => {
  const leaving = { ...child("leaving", 400), leaving: true };
  const reading = child("killed", 400, "read");
  const killed: Child = { ...reading, flight: reading.flight && { ...reading.flight, killed: "memory" } };
  const silent = child("silent", NaN);
  assertEquals(ended([leaving, killed, silent, child("reads", 400, "read")], 500), null);
  assertEquals(ended([leaving, killed, silent, child("reads", 501, "read")], 500), "reads");
});
