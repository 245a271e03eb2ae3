// What the process does beside requests is counted too: messages of webhooks, mails, what waits for the archive.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import { hookWorld } from "../changes/webhooks_world.ts";
import { accountWorld } from "../published/account_world.ts";
import { startSmtpServer } from "../testing/smtp_server.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { readMetrics } from "./read_metrics.ts";

async function samples({ request, operatorKey }: StartedApp): Promise<ReadonlyMap<string, number>> {
  return readMetrics((await request("GET", "/metrics", { token: operatorKey })).text).samples;
}

Deno.test("attempts to deliver a message count as delivered or failed", async () => {
  await using world = await hookWorld();
  await world.add();
  world.receiver.answer = () => new Response(null, { status: 500 });
  await world.tenant.query("INSERT INTO a VALUES (1)");
  await world.until(({ tries }) => tries === 1);
  world.receiver.answer = () => new Response(null, { status: 204 });
  world.later(10_000);
  await world.receiver.got(2);
  await world.until(({ state, tries }) => state === "ok" && tries === 0);
  const counted = await samples(world.app);
  assertEquals(counted.get('cubby_webhook_attempts_total{outcome="failed"}'), 1);
  assertEquals(counted.get('cubby_webhook_attempts_total{outcome="delivered"}'), 1);
});

Deno.test("a mail that a server has taken counts, and one that is asked for in vain does not", async () => {
  await using smtp = await startSmtpServer();
  const settings = { SMTP_URL: smtp.url, SMTP_FROM: "Shop <noreply@shop.example>" };
  await using world = await accountWorld({ slugs: ["signup", "reset"], settings });
  await world.join("ada@shop.example");
  for (const email of ["ada@shop.example", "nobody@shop.example"]) {
    assertEquals((await world.post("reset", { email })).status, 200);
  }
  await world.app.deps.published.mail?.idle();
  assertEquals(smtp.mails.length, 1);
  const counted = await samples(world.app);
  assertEquals(counted.get('cubby_mails_total{outcome="sent"}'), 1);
  assertEquals(counted.get('cubby_mails_total{outcome="failed"}'), 0);
});

Deno.test("the lag of the archive is the age of the oldest change that is not there", async () => {
  const archive = await Deno.makeTempDir({ prefix: "cubby_archive_" });
  try {
    const clock = new TurnableClock();
    await using app = await startApp({ settings: { ARCHIVE_URL: `file:${archive}/none/of/it` }, clock });
    const acme = await app.namespace();
    // From now on nothing can be written there.
    await Deno.remove(archive, { recursive: true });
    await Deno.writeTextFile(archive, "");
    await acme.query("CREATE TABLE items (id INTEGER PRIMARY KEY)");
    clock.turn(60_000);
    let counted = await samples(app);
    while ((counted.get("cubby_archive_failures_total") ?? 0) === 0) {
      await pause(20);
      counted = await samples(app);
    }
    assert((counted.get("cubby_archive_lag_seconds") ?? 0) >= 60);
  } finally {
    await Deno.remove(archive, { recursive: true });
  }
});
