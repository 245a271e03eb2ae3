// Chromium for tests that look at pages as people do. Where there is none they are left out with a word, and in CI they
// fail.
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import axe from "axe-core/axe.min.js" with { type: "text" };
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { print } from "../testing/print.ts";
import { inCi } from "../testing/sqld.ts";

/** How long a page may take for anything: a busy machine takes its time. */
const PATIENCE_MS = 120_000;
const WHOLE = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** The same browser without the parts that draw a window: it takes two thirds of the processor time. */
const HEADLESS = "chromium-headless-shell";
/** Names a file that is there once a browser is installed, or cannot be: `.ci/run` installs it beside the first tests. */
export const INSTALLED = "BROWSER_INSTALLED";

/**
 * One for a file of tests, at its top level. Whoever launches it closes it. `whole`: with what belongs to a window, such as
 * notifications.
 */
export async function launchBrowser({ whole = false } = {}): Promise<Browser | null> {
  const installed = Deno.env.get(INSTALLED);
  while (installed && !isFile(installed)) await pause(200);
  const names = whole ? WHOLE : [HEADLESS, ...WHOLE];
  const executablePath = findProgram(names);
  if (executablePath !== null) return await chromium.launch({ executablePath });
  if (inCi()) throw new Error(`none of ${names.join(", ")} is in PATH`);
  print("\nleft out: there is no Chromium here\n");
  return null;
}

function findProgram(names: readonly string[]): string | null {
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  for (const path of names.flatMap((name) => folders.map((folder) => `${folder}/${name}`))) {
    if (isFile(path)) return path;
  }
  return null;
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}

/** How a page is opened. */
export interface PageOptions extends BrowserContextOptions {
  /** Statuses with which the service refuses something here: browsers write them to the console. */
  readonly refusals?: readonly number[];
}

/**
 * Opens a page and closes it behind `look`. Fails on whatever the page has written to its console, on errors of its
 * scripts and on requests to another origin.
 */
export async function withPage(
  browser: Browser,
  url: string,
  { refusals = [], ...options }: PageOptions,
  look: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  try {
    const page = await context.newPage();
    const told: string[] = [];
    page.on("console", (message) => {
      // The browser tells that it has done at a sign-out what it was asked for.
      if (message.text().startsWith("Clear-Site-Data header on")) return;
      const refused = /^Failed to load resource: .* status of (\d+)/.exec(message.text())?.[1];
      if (refused !== undefined && refusals.includes(Number(refused))) return;
      told.push(`${page.url()} ${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => told.push(`${page.url()} ${error}`));
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== "data:" && origin !== new URL(url).origin) told.push(`request to ${origin}`);
    });
    await page.goto(url, { waitUntil: "load" });
    await look(page);
    assertEquals(told, [], url);
  } finally {
    await context.close();
  }
}

/** The looks of texts whose contrast has been measured: what any page shows just so is not measured again. */
const measured = new Set<string>();

/**
 * What is wrong with the contrast of the elements that have a text of their own and a look that is not `known`, of each look
 * the first; and all looks then. Measured one by one, texts take the browser more time than everything else that is found out.
 */
const CONTRAST = `async (known) => {
  const looks = new Set(known);
  const first = [...document.querySelectorAll("body, body *")].filter((element) => {
    if (![...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== "")) return false;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    let look = [color, fontSize, fontWeight].join();
    for (let around = element; around !== null; around = around.parentElement) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(around);
      look += ";" + [around.tagName, around.className, backgroundColor, backgroundImage, opacity].join();
    }
    const isNew = !looks.has(look);
    looks.add(look);
    return isNew;
  });
  const options = { resultTypes: ["violations"], runOnly: ["color-contrast"] };
  const { violations } = first.length === 0 ? { violations: [] } : await axe.run({ include: first }, options);
  return { violations, looks: [...looks] };
}`;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** What axe-core finds wrong, as `rule: where`; `which`: what colours make wrong, or everything. */
export async function violations(page: Page, which: "contrast" | "all" = "all"): Promise<string[]> {
  // Loaded once a page, and asked for nothing but what is wrong: to find names for all that is right takes far longer.
  if (!await page.evaluate<boolean>('"axe" in globalThis')) await page.evaluate(axe);
  const options = { resultTypes: ["violations"], rules: { "color-contrast": { enabled: false } } };
  const others = which === "contrast" ? [] : await page.evaluate<readonly Violation[]>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  const contrast = await page.evaluate<
    { readonly violations: readonly Violation[]; readonly looks: string[] }
  >(
    `(${CONTRAST})(${JSON.stringify([...measured])})`,
  );
  for (const look of contrast.looks) measured.add(look);
  return [...others, ...contrast.violations].flatMap(({ id, nodes }) =>
    nodes.map(({ target }) => `${id}: ${target.join(" ")}`)
  );
}

/** Pixels by which the page is wider than the window. */
export async function overflow(page: Page): Promise<number> {
  return await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
}

/** An authenticator that the browser believes in: it has a finger on it whenever it is asked. */
export async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** Bytes of the scripts of a page as they travel; one with the editor has more. */
const PAGE_BYTES = 40 * 1024;
const EDITOR_BYTES = 320 * 1024;

/** Fails where the scripts that a page of the console has loaded are too large. */
export async function assertSmall(page: Page): Promise<void> {
  const bytes = await page.evaluate<number>(
    "performance.getEntriesByType('resource').filter(({ name }) => /[.](?:js|ts)$/.test(new URL(name).pathname))" +
      ".reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)",
  );
  const edits = await page.locator("script[type=importmap]").count() > 0;
  assert(
    bytes > 0 && bytes <= (edits ? EDITOR_BYTES : PAGE_BYTES),
    `${page.url()}: ${bytes} bytes of scripts`,
  );
}

/** A script that takes the clipboard of pages away, as browsers do without https; it stays in `kept` for the test. */
export const WITHOUT_CLIPBOARD =
  "globalThis.kept = navigator.clipboard; delete Navigator.prototype.clipboard";
