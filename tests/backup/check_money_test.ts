// What `verify` and a restore say of money that does not add up.
import { assert, assertEquals } from "@std/assert";
import { checkMoney } from "../../lib/services/backup/check_money.ts";
import { keys } from "../../lib/store/keys.ts";
import { startApp } from "../testing/start_app.ts";

Deno.test("money that does not add up is told, whichever of its sums is wrong, and an account that is lost", async () => {
  await using app = await startApp();
  await (await app.namespace()).query("SELECT 1");
  const { kv, control, query } = app.deps;
  const { id = "" } = await control.namespaces.bySlug("acme") ?? {};
  await query.meter.tick();
  assertEquals(await checkMoney(kv), { looked: 1, wrong: [] });
  const key = keys.balance(id);
  const { value } = await kv.get<Record<string, number>>(key);
  const faults = async (changed: Record<string, number>) => {
    await kv.set(key, { ...value, ...changed });
    return (await checkMoney(kv)).wrong.map((one) => one.replace(id, "it").replace(/\d+/g, "n"));
  };
  const { creditedNanoUsd = 0, balanceNanoUsd = 0, reservedNanoUsd = 0 } = value ?? {};
  assert(reservedNanoUsd > 0);
  const of = "money of it: ";
  const sums = `${of}credited n, but balance, reserved and used are n`;
  assertEquals(await faults({ balanceNanoUsd: balanceNanoUsd + 1 }), [sums]);
  assertEquals(
    await faults({ balanceNanoUsd: balanceNanoUsd - 1, reservedNanoUsd: reservedNanoUsd + 1 }),
    [`${of}reserved n, but its blocks hold n`],
  );
  assertEquals(
    await faults({ balanceNanoUsd: balanceNanoUsd + 1, creditedNanoUsd: creditedNanoUsd + 1 }),
    [`${of}credited n, but its credits are n`],
  );
  await kv.delete(key);
  assertEquals((await checkMoney(kv)).wrong, [`money of ${id}: there is no account`]);
});
