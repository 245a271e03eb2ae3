// Every link of README and the pages leads somewhere: in the repository, where a forge shows the files, and on the
// service, which serves them as pages.
import { assert, assertEquals } from "@std/assert";
import { repository } from "../architecture/source_files.ts";
import { docPages } from "../../routes/docs/pages.ts";
import { startApp } from "../testing/start_app.ts";
import { docFiles, prose } from "./doc_files.ts";

/** As forges make them. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s/g, "-")
    ),
  );
}

Deno.test("every link between README and pages names a file, and a heading of it", async () => {
  const files = await docFiles();
  const anchors = new Map(files.map((file) => [new URL(file.path, repository).href, anchorsOf(prose(file))]));
  const wrong: string[] = [];
  let count = 0;
  for (const file of files) {
    for (const [, href = ""] of prose(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https:|\/)/.test(href)) continue;
      count += 1;
      const { hash, href: target } = new URL(href, new URL(file.path, repository));
      const known = anchors.get(target.split("#")[0] ?? "");
      if (!known || (hash !== "" && !known.has(hash.slice(1)))) wrong.push(`${file.path}: ${href}`);
    }
  }
  assert(count > 20, `${count} links`);
  assertEquals(wrong, []);
});

Deno.test("the table of pages is the files, each with its own title", async () => {
  const files = await docFiles();
  assertEquals(
    docPages.map(({ file }) => new URL(file, new URL("routes/docs/", repository)).href).sort(),
    files.map(({ path }) => new URL(path, repository).href).sort(),
  );
  for (const { slug, title, load } of docPages) {
    const heading = /^# (.+)\n/.exec((await load()).default)?.[1];
    assertEquals(heading, slug === "readme" ? "Cubby" : title);
  }
});

Deno.test("every link of every served page leads to an address and a heading of it that are there", async () => {
  await using app = await startApp();
  const pages = new Map<string, { readonly ids: ReadonlySet<string>; readonly text: string }>();
  const read = async (path: string) => {
    const known = pages.get(path);
    if (known) return known;
    const { status, text } = await app.request("GET", path);
    // The console leads to its sign-in.
    assertEquals(status, path === "/console" ? 302 : 200, path);
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id));
    const page = { ids, text };
    pages.set(path, page);
    return page;
  };
  const wrong: string[] = [];
  for (const path of ["/docs", "/docs/api", ...docPages.map(({ slug }) => `/docs/${slug}`)]) {
    const { text } = await read(path);
    const links = [...text.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, href = ""]) => href);
    assert(links.length > 20, path);
    for (const href of links) {
      if (href.startsWith("https://")) continue;
      // The service's own address, which its reader has open.
      if (href.startsWith("http://127.0.0.1/docs")) continue;
      const [target = "", id] = href.split("#");
      const { ids } = await read(target === "" ? path : target);
      if (id !== undefined && !ids.has(decodeURIComponent(id))) wrong.push(`${path}: ${href}`);
    }
  }
  assertEquals(wrong, []);
});
