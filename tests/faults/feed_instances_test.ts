// The feed and webhooks where two instances serve one database: what one commits the other tells, a webhook is sent each change
// once and in order by whichever of them, and goes on when that one is killed.
import { assertEquals } from "@std/assert";
import { startReceiver } from "../changes/receiver.ts";
import { seqsIn } from "../changes/webhooks_world.ts";
import { withInstances } from "./instances_world.ts";

const WRITES = 20;

Deno.test("of two instances each tells what the other commits, and one sends a webhook, also when the other is killed", async () => {
  await using receiver = startReceiver();
  await withInstances(async ({ ask, query, services }) => {
    const poll = async (at: number, search: string) =>
      JSON.parse(JSON.stringify((await ask(at, "GET", `/v1/db/acme/main/changes${search}`)).data)) as {
        readonly id: string;
      }[];
    const added = await ask(0, "POST", "/api/namespaces/acme/databases/main/webhooks", {
      url: receiver.url,
      events: ["change"],
    });
    assertEquals(added.status, 201, String(added.code));
    const last = (await poll(0, "")).at(-1)?.id ?? "";
    const [told, written] = await Promise.all([
      poll(1, `?since=${last}&waitSec=20`),
      query(0, "main", "INSERT INTO t VALUES (0)"),
    ]);
    assertEquals([told.length, written.status], [1, 200]);

    await Promise.all(
      Array.from({ length: WRITES }, (_, at) => query(at, "main", `INSERT INTO t VALUES (${at})`)),
    );
    /** Waits until the webhook was sent what the feed has: a commit may have several writes. */
    const delivered = async (at: number) => {
      const wanted = (await poll(at, `?since=${last}`)).map(({ id }) => Number(id.split("-")[1]));
      // A kill before the note that a message has arrived sends it again, as it was.
      const once = () => [...new Map(receiver.received.map((message) => [message.id, message])).values()];
      while (seqsIn(once()).length < wanted.length) await receiver.got(receiver.received.length + 1);
      assertEquals(seqsIn(once()), wanted);
    };
    await delivered(1);
    // Whichever has delivered them.
    await services[0]?.kill();
    for (let at = 0; at < 3; at++) await query(1, "main", `INSERT INTO t VALUES (${at})`);
    await delivered(1);
    const bodies = new Set(receiver.received.map(({ id, body }) => id + body));
    assertEquals(bodies.size, new Set(receiver.received.map(({ id }) => id)).size);
  }, { WEBHOOKS_PRIVATE: "1" });
});
