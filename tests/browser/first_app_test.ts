// The page of the guide "An app in fifteen minutes", in a real browser, against a service that the guide's own commands
// have made ready.
import { assert, assertEquals } from "@std/assert";
import { startService } from "../testing/start_service.ts";
import { blocksOf, docFile } from "../docs/doc_files.ts";
import { INSTALLED, launchBrowser } from "./browser.ts";
import { unlooked } from "../testing/unlooked.ts";

const PATIENCE_MS = 120_000;
const browser = await launchBrowser();

/** Runs the guide's commands as they stand there, but for addresses and keys. */
async function build(folder: string, replaced: ReadonlyMap<string, string>): Promise<void> {
  const setUp = blocksOf(await docFile("README.md")).find(({ text }) => text.startsWith("export TOKEN="));
  const blocks = blocksOf(await docFile("routes/docs/first-app.md")).filter(({ language }) =>
    language === "sh"
  );
  let script = ["set -eu", setUp?.text ?? "", ...blocks.map(({ text }) => text)].join("\n");
  for (const [written, there] of replaced) script = script.replaceAll(written, there);
  const { success, stderr } = await new Deno.Command("sh", { args: ["-c", script], cwd: folder }).output();
  assert(success, new TextDecoder().decode(stderr));
}

Deno.test({
  name: "a browser is looked for once it is installed, where somebody says when that is",
  ignore: browser === null,
  ...unlooked,
  fn: async () => {
    const folder = await Deno.makeTempDir({ prefix: "cubby_browser_" });
    const path = Deno.env.get("PATH") ?? "";
    Deno.env.set("PATH", folder);
    Deno.env.set(INSTALLED, `${folder}/installed`);
    try {
      const launched = launchBrowser();
      Deno.env.set("PATH", path);
      await Deno.writeTextFile(`${folder}/installed`, "");
      const found = await launched;
      assert(found);
      await found.close();
    } finally {
      Deno.env.set("PATH", path);
      Deno.env.delete(INSTALLED);
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "somebody signs up, searches and books on the guide's page, and a taken place is told in words",
  ignore: browser === null,
  ...unlooked,
  fn: async () => {
    if (browser === null) return;
    const folder = await Deno.makeTempDir({ prefix: "cubby_first_app_" });
    await using service = await startService({ folder: `${folder}/data`, settings: { TENANTS_URL: "" } });
    await using pages = Deno.serve(
      { hostname: "localhost", port: 0, onListen: () => {} },
      async () =>
        new Response(await Deno.readTextFile(`${folder}/index.html`), {
          headers: { "content-type": "text/html; charset=utf-8" },
        }),
    );
    const origin = `http://localhost:${pages.addr.port}`;
    await build(
      folder,
      new Map([
        ["http://127.0.0.1:8000", service.url],
        ["http://localhost:3000", origin],
        ["cub_live_…", /cub_live_\w+/.exec(service.output())?.[0] ?? ""],
        ["cub_op_…", /cub_op_\w+/.exec(service.output())?.[0] ?? ""],
      ]),
    );
    const context = await browser.newContext();
    context.setDefaultTimeout(PATIENCE_MS);
    try {
      const page = await context.newPage();
      const thrown: string[] = [];
      page.on("pageerror", (error) => thrown.push(String(error)));
      await page.goto(origin);
      const told = async (text: string) => await page.locator("#told", { hasText: text }).waitFor();
      await page.locator("#lessons li").nth(2).waitFor();
      await page.locator("#lessons button").first().click();
      await told("Come in first");
      await page.fill("[name=email]", "ada@example.com");
      await page.fill("[name=password]", "correct horse");
      await page.fill("[name=name]", "Ada");
      await page.click("#account button");
      await told("You are in");
      await page.fill("[name=words]", "glaz*");
      await page.click("#search button");
      // The others go with the answer; the one that stays was there before.
      await page.locator("#lessons li").nth(1).waitFor({ state: "detached" });
      await page.locator("#lessons li", { hasText: "1 left" }).waitFor();
      assertEquals(await page.locator("#lessons li").count(), 1);
      await page.click("#lessons button");
      await told("Booked: Glazing");
      await page.click("#lessons button");
      await told("No place is left");
      assertEquals(thrown, []);
    } finally {
      await context.close();
      await browser.close();
      await Deno.remove(folder, { recursive: true });
    }
  },
});
