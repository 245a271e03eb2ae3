// A router for each surface. A path that the fast router cannot take slows down only its own surface: one static
// segment beside a parameter under `/api` would otherwise cost every `/v1/…/query` a walk through a tree.
import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";

/** The first match counts. A slug has no dot, so documents under `/p` have a router of their own. */
const SURFACES: readonly ((path: string) => boolean)[] = [
  (path) => path.startsWith("/v1/"),
  (path) => path.startsWith("/p/") && /\.(?:json|ts|js)$/.test(path),
  (path) => path.startsWith("/p/"),
  (path) => path.startsWith("/hrana/"),
  (path) => path === "/mcp" || path.startsWith("/mcp/"),
  (path) => path.startsWith("/oauth/") || path.startsWith("/.well-known/oauth-"),
  (path) => path === "/console" || path.startsWith("/console/"),
];

/** Routes by surface, then by path. */
export class SurfaceRouter<T> implements Router<T> {
  readonly name = "SurfaceRouter";
  readonly #surfaces = SURFACES.map((holds) => ({ holds, router: fastRouter<T>() }));
  readonly #rest = fastRouter<T>();

  add(method: string, path: string, handler: T): void {
    const own = this.#surfaces.find(({ holds }) => holds(path));
    if (own) return own.router.add(method, path, handler);
    this.#rest.add(method, path, handler);
    // Middleware of all paths belongs to the routers of the surfaces too.
    if (path === "*" || path === "/*") {
      for (const { router } of this.#surfaces) router.add(method, path, handler);
    }
  }

  match(method: string, path: string): Result<T> {
    for (const { holds, router } of this.#surfaces) {
      if (holds(path)) return router.match(method, path);
    }
    return this.#rest.match(method, path);
  }
}

function fastRouter<T>(): Router<T> {
  return new SmartRouter<T>({ routers: [new RegExpRouter<T>(), new TrieRouter<T>()] });
}
