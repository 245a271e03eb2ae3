// `deno run -A tests/bench/first_paint.ts [page…]`: how long pages of the console take to the first content, for a browser
// that has none of it yet, over a line of 10 Mbit/s with 40 ms each way there and back; and the bytes that travel.
// `--rounds N` (5). Without names the pages of the table in the documentation.
import type { Browser, BrowserContextOptions } from "playwright-core";
import { launchBrowser } from "../browser/browser.ts";
import { openConsole } from "../browser/console_world.ts";
import { furnish, type FurnishedPage, personFor } from "../browser/furnished.ts";
import { print } from "../testing/print.ts";
import { median } from "./median.ts";

const DELAY_MS = 40;
const BYTES_A_SECOND = 10_000_000 / 8;
const KINDS = [
  ...["approval", "approval-ran", "approvals", "databases", "overview", "table", "sql", "tables", "usage"],
  ...["tokens", "members", "audit", "settings", "rules", "log", "branches", "snapshots", "endpoints"],
  ...["account", "sign-in", "invite", "namespaces"],
];

const roundsAt = Deno.args.indexOf("--rounds");
const rounds = roundsAt < 0 ? 5 : Number(Deno.args[roundsAt + 1]);
const named = Deno.args.filter((_, at) => roundsAt < 0 || (at !== roundsAt && at !== roundsAt + 1));
const names = named.length > 0 ? named : KINDS;

/** What one visit took. */
interface Visit {
  readonly firstMs: number;
  /** Until the last font is there: then nothing on the page moves any more. */
  readonly fontMs: number;
  /** Bytes as they travelled. */
  readonly page: number;
  readonly style: number;
  readonly fonts: number;
  readonly scripts: number;
}

/** In the page: waits for the first content, and adds up what was loaded until everything is there. */
const MEASURE = `(async () => {
  const first = await new Promise((resolve) => {
    new PerformanceObserver((list, observer) => {
      const entry = list.getEntriesByName("first-contentful-paint")[0];
      if (entry === undefined) return;
      observer.disconnect();
      resolve(entry.startTime);
    }).observe({ type: "paint", buffered: true });
  });
  await document.fonts.ready;
  const loaded = (pattern) => performance.getEntriesByType("resource")
    .filter(({ name }) => pattern.test(new URL(name).pathname));
  const bytes = (pattern) => loaded(pattern).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
  return {
    firstMs: first,
    fontMs: Math.max(...loaded(/[.]woff2$/).map(({ responseEnd }) => responseEnd)),
    page: performance.getEntriesByType("navigation")[0].encodedBodySize,
    style: bytes(/[.]css$/),
    fonts: bytes(/[.]woff2$/),
    scripts: bytes(/[.](?:js|ts)$/),
  };
})()`;

const browser = await launchBrowser();
if (browser === null) Deno.exit(1);
const world = await openConsole();
const pages = await furnish(world.app);
print("page | first content, ms (least to most) | last font, ms | kB: page, style, fonts, scripts");
for (const name of names) {
  const shown = pages.find((page) => page.name === name);
  if (shown === undefined) throw new RangeError(`there is no page ${name}`);
  const person = await personFor(world.app, shown.who);
  const visits: Visit[] = [];
  // One more than is counted: the service reads a page's code when it is first asked for.
  for (let round = 0; round <= rounds; round++) {
    visits.push(await visit(browser, shown, person === null ? {} : world.signedIn(person)));
  }
  print(line(name, visits.slice(1)));
}
await browser.close();
await world.stop();

/** By somebody who has never been there: a context of its own has a cache of its own. */
async function visit(
  browser: Browser,
  { path }: FurnishedPage,
  options: BrowserContextOptions,
): Promise<Visit> {
  const context = await browser.newContext({ ...options, viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: DELAY_MS,
      downloadThroughput: BYTES_A_SECOND,
      uploadThroughput: BYTES_A_SECOND,
    });
    await page.goto(world.url + path, { waitUntil: "load" });
    return await page.evaluate<Visit>(MEASURE);
  } finally {
    await context.close();
  }
}

function line(name: string, visits: readonly Visit[]): string {
  const first = sorted(visits.map(({ firstMs }) => firstMs));
  const font = sorted(visits.map(({ fontMs }) => fontMs));
  const { page = 0, style = 0, fonts = 0, scripts = 0 } = visits[0] ?? {};
  const sizes = [page, style, fonts, scripts].map((bytes) => (bytes / 1000).toFixed(1)).join(", ");
  return `${name} | ${median(first)} (${first[0]} to ${first.at(-1)}) | ${median(font)} | ${sizes}`;
}

function sorted(times: readonly number[]): number[] {
  return times.map((ms) => Math.round(ms)).sort((a, b) => a - b);
}
