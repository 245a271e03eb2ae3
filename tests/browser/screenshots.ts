// Pictures of the console's pages for people to look at: wide and narrow, light and dark, into `.screenshots/`. With words
// as arguments only pages whose address holds one of them. `deno task screenshots [word…]`.
import type { Page } from "playwright-core";
import { print } from "../testing/print.ts";
import type { TestPerson } from "../testing/person.ts";
import { launchBrowser } from "./browser.ts";
import { type ConsoleWorld, openConsole } from "./console_world.ts";
import { furnish, type FurnishedPage, openFurnished, personFor } from "./furnished.ts";

const FOLDER = new URL("../../.screenshots/", import.meta.url);
const SIZES = [["wide", 1280, 800], ["narrow", 360, 740]] as const;
const words = Deno.args;

const browser = await launchBrowser();
if (browser === null) Deno.exit(1);
const archive = await Deno.makeTempDir();
const world = await openConsole({ settings: { TENANTS_URL: "file:", ARCHIVE_URL: `file:${archive}/of` } });
const pages = await furnish(world.app);
await Deno.mkdir(FOLDER, { recursive: true });
const people = new Map<FurnishedPage["who"], TestPerson | null>();
for (const shown of pages) {
  const { name, path, who } = shown;
  if (words.length > 0 && !words.some((word) => path.includes(word) || name.includes(word))) continue;
  const person = people.has(who)
    ? people.get(who)
    : await personFor(world.app, who, "mara@northwind.example");
  people.set(who, person ?? null);
  await picture(world, shown, person ?? null);
}
await browser.close();
await world.stop();
await Deno.remove(archive, { recursive: true });

async function picture(
  { url, signedIn }: ConsoleWorld,
  shown: FurnishedPage,
  person: TestPerson | null,
): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const [size, width, height] of SIZES) {
      const viewport = { width, height };
      const context = await browser?.newContext({
        ...(person === null ? {} : signedIn(person)),
        colorScheme,
        viewport,
      });
      const page = await context?.newPage();
      if (page) await openFurnished(page, url, shown);
      if (page) await whole(page, viewport);
      await page?.screenshot({ path: new URL(`${shown.name}-${size}-${colorScheme}.png`, FOLDER).pathname });
      await context?.close();
    }
  }
  print(`${shown.name}\n`);
}

/** The window becomes as high as the page: what sticks to its edges stays there. */
async function whole(page: Page, viewport: { width: number; height: number }): Promise<void> {
  const height = await page.evaluate<number>("document.documentElement.scrollHeight");
  await page.setViewportSize({
    width: viewport.width,
    height: Math.min(Math.max(height, viewport.height), 6000),
  });
}
