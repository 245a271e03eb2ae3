// The page of the webhooks, as a browser without script sees it.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startReceiver } from "../changes/receiver.ts";
import { signIn } from "../testing/person.ts";
import { startApp } from "../testing/start_app.ts";
import { consoleWorld, mainOf, plain } from "./console_world.ts";
import { openPage } from "./open_page.ts";

Deno.test("an admin adds a webhook, sees its secret once, tries it, sees how it fails, and deletes it", async () => {
  await using app = await startApp({ settings: { WEBHOOKS_PRIVATE: "1" } });
  await using receiver = startReceiver();
  const { deliverer } = app.deps.webhooks;
  await deliverer.start();
  const slug = "acme";
  const { path, send, look, tenant } = await consoleWorld(
    app,
    { slug, page: "webhooks" },
    "CREATE TABLE a (v)",
  );
  assertStringIncludes(await look(path), "No webhook yet");

  const wrong = await send(path, { url: "gopher://x", events: "change", tables: "a, b" });
  assertEquals(wrong.status, 400);
  assertStringIncludes(wrong.text, "neither https nor http");
  assertStringIncludes(wrong.text, 'value="a, b"');
  assertStringIncludes((await send(path, { url: receiver.url })).text, "Choose what it is told of");

  const added = await send(path, { url: receiver.url, events: "change" });
  assertEquals(added.status, 201, added.text);
  const [secret = ""] = /whsec_[\w+/=]+/.exec(added.text) ?? [];
  assert(secret.length > 30);
  receiver.secrets = [secret];
  const shown = await look(path);
  assert(!shown.includes("whsec_") && plain(shown).includes("Nothing was sent yet"));
  const [, id = ""] = /webhooks\/(whk_\w+)\/test/.exec(shown) ?? [];
  const tested = await send(`${path}/${id}/test`);
  assertStringIncludes(plain(mainOf(tested.text)), "The test message was answered by 204");

  receiver.answer = () => new Response(null, { status: 503 });
  await tenant.setup("INSERT INTO a VALUES (1)");
  for (;;) {
    const text = plain(await look(path));
    if (!text.includes("Sent in vain")) continue;
    assertStringIncludes(text, "Tries again");
    assertStringIncludes(text, "change 503");
    break;
  }
  receiver.answer = () => new Response(null, { status: 204 });
  assertEquals((await send(`${path}/${id}/redeliver`)).status, 303);
  await receiver.got(3);
  assertEquals((await send(`${path}/${id}/enabled`, { enabled: "no" })).status, 303);
  assertStringIncludes(plain(await look(path)), "Paused");
  const rotated = await send(`${path}/${id}/secret`);
  assert(/whsec_/.test(rotated.text) && !rotated.text.includes(secret));

  const viewer = await signIn(app, { role: "viewer", namespace: slug });
  assertEquals((await openPage(app, path, viewer)).status, 403);
  assert(!(await openPage(app, path.replace("/webhooks", "/rules"), viewer)).text.includes("/webhooks"));
  assertStringIncludes(await look(path.replace("main", "main@pr-1")), `<a href="${path}">`);

  assertEquals((await send(`${path}/${id}/delete`)).status, 303);
  assertEquals((await send(`${path}/${id}/test`)).status, 404);
  assertStringIncludes(await look(path), "No webhook yet");
});
