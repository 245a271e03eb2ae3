// What pages load besides themselves: style, scripts, fonts, the icon. Made once, at the first visit, compressed, and
// served under an address that changes with the content of any of them, so that a browser may keep them for good.
import { createHash } from "node:crypto";
import * as nodeModule from "node:module";
import { Hono } from "hono";
import geistMono from "@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2" with {
  type: "bytes",
};
import geist from "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2" with { type: "bytes" };
import htmx from "htmx.org/dist/htmx.min.js" with { type: "text" };
import { AppError } from "../../../lib/core/errors.ts";
import { once } from "../../../lib/core/once.ts";
import { editorModules, moduleFile } from "./editor_modules.ts";
import { browserSources } from "./browser_sources.ts";
import type { Env } from "../../http/env.ts";
import type { AssetPlace } from "../../http/visit.ts";
import { consoleCss } from "./css_parts.ts";
import icon from "./icon.svg" with { type: "text" };

interface Asset {
  readonly type: string;
  /** As it is sent. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly gzipped: boolean;
}

/** Assets that are served under one prefix, which changes with the content of any of them. */
interface AssetGroup {
  readonly prefix: string;
  readonly byName: ReadonlyMap<string, Asset>;
}

/** The assets of this process. */
export interface Assets extends AssetPlace, AssetGroup {
  /** The modules of the SQL editor, made when they are first asked for. */
  readonly editorGroup: () => Promise<AssetGroup>;
}

const CSS = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

/** Makes all of them. */
export async function loadAssets(): Promise<Assets> {
  const scripts = browserScripts();
  const texts: [name: string, type: string, text: string][] = [
    ["console.css", CSS, consoleCss],
    ["icon.svg", "image/svg+xml", icon],
    ["htmx.js", SCRIPT, htmx],
    ...Object.entries(scripts ?? {}).map(([name, text]): [string, string, string] => [name, SCRIPT, text]),
  ];
  const byName = new Map<string, Asset>([
    ["geist.woff2", { type: "font/woff2", body: geist, gzipped: false }],
    ["geist-mono.woff2", { type: "font/woff2", body: geistMono, gzipped: false }],
  ]);
  for (const [name, type, text] of texts) {
    byName.set(name, { type, body: await gzip(text), gzipped: true });
  }
  const editorGroup = once(loadEditor);
  const editorAddresses = async () => {
    const { prefix } = await editorGroup();
    return Object.fromEntries(Object.keys(editorModules).map((name) => [name, prefix + moduleFile(name)]));
  };
  return { prefix: prefixOf(byName), scripted: scripts !== null, byName, editorGroup, editorAddresses };
}

async function loadEditor(): Promise<AssetGroup> {
  const byName = new Map<string, Asset>();
  for (const [name, load] of Object.entries(editorModules)) {
    const { default: text } = await load();
    byName.set(moduleFile(name), { type: SCRIPT, body: await gzip(text), gzipped: true });
  }
  return { prefix: prefixOf(byName), byName };
}

function prefixOf(byName: ReadonlyMap<string, Asset>): string {
  const hash = createHash("sha256");
  for (const { body } of byName.values()) hash.update(body);
  return `/console/-/assets/${hash.digest("hex").slice(0, 16)}/`;
}

/** Null where the runtime cannot take types out of a text: it is too old, and pages go without scripts. */
function browserScripts(): Record<string, string> | null {
  const strip: unknown = Reflect.get(nodeModule, "stripTypeScriptTypes");
  if (typeof strip !== "function") return null;
  return Object.fromEntries(
    Object.entries(browserSources).map(([name, text]) => [name, String(strip(text))]),
  );
}

async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).bytes();
}

const editorFiles: ReadonlySet<string> = new Set(Object.keys(editorModules).map(moduleFile));

/** Of an hour's deployment, an old page may still ask for assets of before: it gets those of now. */
const FOR_GOOD = "public, max-age=31536000, immutable";
const SHORT = "public, max-age=60";

/** Mounted under `/console/-/assets`. */
export function assetRoutes(assets: Assets): Hono<Env> {
  return new Hono<Env>().get("/:hash/:name", async (c) => {
    const { hash, name } = c.req.param();
    const group = editorFiles.has(name) ? await assets.editorGroup() : assets;
    const asset = group.byName.get(name);
    if (!asset) throw new AppError("not_found");
    const isCurrent = group.prefix.endsWith(`/${hash}/`);
    const plain = asset.gzipped && !/\bgzip\b/.test(c.req.header("accept-encoding") ?? "");
    return c.body(plain ? await gunzip(asset.body) : asset.body, 200, {
      "content-type": asset.type,
      "cache-control": isCurrent ? FOR_GOOD : SHORT,
      ...(asset.gzipped ? { vary: "accept-encoding" } : {}),
      ...(asset.gzipped && !plain ? { "content-encoding": "gzip" } : {}),
    });
  });
}

async function gunzip(body: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return await new Response(new Blob([body]).stream().pipeThrough(new DecompressionStream("gzip"))).bytes();
}
