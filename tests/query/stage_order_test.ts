// Of several reasons against a call its caller hears the one of the first stage.
import { assertEquals } from "@std/assert";
import { withWrites } from "../writes/write_world.ts";

Deno.test("a role that is too low is told before a rule, a rule that denies before the balance, the balance before an approval", async () => {
  await withWrites(async ({ rule, setup, shop }) => {
    await setup("CREATE TABLE t (a)", "CREATE TABLE u (a)", "CREATE TABLE v (a)");
    await rule({ tableGlob: "t", effect: "deny" });
    await rule({ tableGlob: "u", effect: "require_approval" });
    const reader = await shop.mint("read");
    const codes = async () => {
      const answers = [
        await shop.query("INSERT INTO t VALUES (1)", [], { token: reader.token }),
        await shop.query("INSERT INTO t VALUES (1)"),
        await shop.query("INSERT INTO u VALUES (1)"),
        await shop.query("INSERT INTO v VALUES (1, 2)"),
        await shop.batch([["INSERT INTO t VALUES (1)"], ["INSERT INTO nothing VALUES (1)"]], {
          transaction: true,
        }),
        await shop.batch([["INSERT INTO t VALUES (1)"], ["INSERT INTO nothing VALUES (1)"]]),
        await shop.query("PRAGMA foreign_keys = OFF"),
      ];
      return answers.map(({ body }) => body.code);
    };
    const stopped = ["role_too_low", "rule_denied"];
    assertEquals(await codes(), [
      ...[...stopped, "approval_required", "sql_error"],
      // What can only fail is not measured by rules; what runs before a failure is.
      ...["sql_error", "rule_denied", "validation_failed"],
    ]);
    while ((await shop.query("SELECT 1")).status === 200);
    const poor = "balance_exhausted";
    assertEquals(await codes(), [...stopped, poor, poor, poor, "rule_denied", "validation_failed"]);
  }, { settings: { WELCOME_CREDIT_USD: "0.00003" } });
});
