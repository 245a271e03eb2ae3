// Style, script and pictures of the documentation, and the viewer of the API description. Each is loaded when
// somebody first asks for it: an idle service holds none of them.
import { createHash } from "node:crypto";
import { once } from "../../lib/core/once.ts";

/** A file that pages load. */
export interface Asset {
  readonly type: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Changes with the content. */
  readonly version: string;
}

interface Source {
  readonly type: string;
  readonly load: () => Promise<{ readonly default: string | Uint8Array<ArrayBuffer> }>;
}

const CSS = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

/** Last segment of the address → what is there. */
const sources: Readonly<Record<string, Source>> = {
  "docs.css": { type: CSS, load: () => import("./docs.css", { with: { type: "text" } }) },
  "api.css": { type: CSS, load: () => import("./api.css", { with: { type: "text" } }) },
  "docs.js": { type: SCRIPT, load: () => import("./docs.js", { with: { type: "text" } }) },
  "api.js": { type: SCRIPT, load: () => import("./api.js", { with: { type: "text" } }) },
  "icon.svg": { type: "image/svg+xml", load: () => import("./icon.svg", { with: { type: "text" } }) },
  "swagger-ui.css": {
    type: CSS,
    load: () => import("swagger-ui-dist/swagger-ui.css", { with: { type: "bytes" } }),
  },
  "swagger-ui.js": {
    type: SCRIPT,
    load: () => import("swagger-ui-dist/swagger-ui-bundle.js", { with: { type: "bytes" } }),
  },
};

const loaded = new Map<string, () => Promise<Asset>>();

/** Null where no file has the name. */
export async function findAsset(name: string): Promise<Asset | null> {
  const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
  if (!source) return null;
  const load = loaded.get(name) ?? once(() => loadAsset(source));
  loaded.set(name, load);
  return await load();
}

/** Its address with its version, by which a cache may hold it for good. */
export async function assetPath(name: string): Promise<string> {
  return `/docs/assets/${name}?v=${(await findAsset(name))?.version}`;
}

async function loadAsset({ type, load }: Source): Promise<Asset> {
  const { default: body } = await load();
  return { type, body, version: createHash("sha256").update(body).digest("hex").slice(0, 16) };
}
