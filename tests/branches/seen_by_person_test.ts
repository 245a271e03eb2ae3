// What a person has seen and decides in the same moment: no API token may, whatever its role.
import { assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { resolveTarget } from "../../lib/access/resolve_target.ts";
import type { TokenCaller } from "../../lib/access/caller.ts";
import { mergeSeen } from "../../lib/services/branches/merge_seen.ts";
import { restoreSeen } from "../../lib/services/snapshots/restore_seen.ts";
import { PLAIN_ROWS } from "../../lib/sql/words/row_form.ts";
import { startApp } from "../testing/start_app.ts";

Deno.test("an admin token neither merges nor restores past a rule by what it has seen", async () => {
  await using app = await startApp();
  const acme = await app.namespace("acme");
  const { deps } = app;
  const namespaceId = (await deps.control.namespaces.bySlug("acme"))?.id ?? "";
  const token: TokenCaller = {
    kind: "token",
    tokenId: acme.id,
    name: "agent",
    namespaceId,
    namespaceSlug: "acme",
    role: "admin",
    scopes: [],
    expiresAt: null,
  };
  const target = await resolveTarget(deps, token, { namespaceSlug: "acme", databasePath: "main" });
  const ctx = { ...deps.query, ...deps, target, caller: token };
  const merge = { ref: "pr-1", mode: "data", onConflict: "abort", rowForm: PLAIN_ROWS, seen: "" } as const;
  for (const act of [() => mergeSeen(ctx, merge), () => restoreSeen(ctx, { snapshot: "any" })]) {
    const code = await act().then(() => "done", (error) => error instanceof AppError ? error.code : "other");
    assertEquals(code, "person_required");
  }
});
