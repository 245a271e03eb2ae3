// Where a repetition is answered before a later stage could stop it. That it is answered without money stands in
// `idempotency_free_test.ts`, and that it is when its statement cannot run again in `idempotency_test.ts`.
import { assertEquals } from "@std/assert";
import { withWrites } from "../writes/write_world.ts";
import { assertRefused, assertReplay, INSERT, keyed, step, T } from "./keyed.ts";

for (const effect of ["require_approval", "deny"]) {
  Deno.test(`a write that has run is answered again behind a rule that has come since (${effect}), and nobody is asked about it`, async () => {
    await withWrites(async ({ app, rows, rule, setup, shop }) => {
      await setup(T);
      const calls = [
        () => shop.query(INSERT, [], keyed("k")),
        () => shop.query("INSERT INTO t (a) VALUES ('p')", [], step("p", "1")),
        () => shop.batch([["UPDATE t SET a = 'y' WHERE a = 'x'"], ["SELECT 1"]], keyed("b")),
      ];
      const first = [];
      for (const call of calls) first.push(await call());
      await rule({ tableGlob: "t", effect });
      for (const [index, call] of calls.entries()) {
        const answer = first[index];
        if (answer) assertReplay(answer, await call(), index === 1 ? "plan-replayed" : undefined);
      }
      const path = `/api/namespaces/${shop.slug}/approvals`;
      const approvals = await app.request("GET", path, { token: shop.token });
      assertEquals([approvals.status, approvals.body.data], [200, []]);
      assertEquals(await rows("SELECT a FROM t ORDER BY a"), [["p"], ["y"]]);
      // Another request under the key is told so, and is not held for a person either.
      assertRefused(
        await shop.query("DELETE FROM t WHERE a = 'y'", [], keyed("k")),
        422,
        "replay_mismatch",
      );
    });
  });
}
