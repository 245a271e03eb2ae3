// The service is killed between a message and the note that it has arrived: the message comes again, as it was.
import { assert, assertEquals } from "@std/assert";
import { startService } from "../testing/start_service.ts";
import { startReceiver } from "./receiver.ts";

Deno.test("a message whose delivery was not noted comes again under its id, and what follows comes once", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_webhooks_" });
  await using receiver = startReceiver();
  const options = { folder, settings: { WEBHOOKS_PRIVATE: "1" } };
  try {
    const first = await startService(options);
    const token = /cub_live_\w+/.exec(first.output())?.[0] ?? "";
    const post = async (url: string, path: string, body: object) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      const text = await answer.text();
      assert(answer.ok, text);
      return JSON.parse(text).data;
    };
    const query = (url: string, sql: string) => post(url, "/v1/db/demo/demo/query", { sql });
    const hooks = "/api/namespaces/demo/databases/demo/webhooks";
    const { secret } = await post(first.url, hooks, { url: receiver.url, events: ["change"] });
    receiver.secrets = [secret];
    // The answer never leaves: the service is gone before it would have come.
    const killed = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    receiver.answer = async () => {
      asked.resolve();
      await killed.promise;
      return new Response(null, { status: 204 });
    };
    await query(first.url, "INSERT INTO products (name, price_cents) VALUES ('one', 1)");
    await asked.promise;
    await query(first.url, "INSERT INTO products (name, price_cents) VALUES ('two', 2)");
    await first.kill();
    receiver.answer = () => new Response(null, { status: 204 });
    killed.resolve();
    const second = await startService(options);
    try {
      await receiver.got(3);
      await query(second.url, "INSERT INTO products (name, price_cents) VALUES ('three', 3)");
      await receiver.got(4);
    } finally {
      await second.stop();
    }
    const [sent, again, ...later] = receiver.received;
    assertEquals([again?.id, again?.body], [sent?.id, sent?.body]);
    const seqs = [again, ...later].flatMap((one) => one?.data.changes ?? []).map(({ id }) =>
      Number(id.split("-")[1])
    );
    assertEquals(seqs, seqs.map((_, at) => (seqs[0] ?? 0) + at));
    assertEquals(seqs.length, 3);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
