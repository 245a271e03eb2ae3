// A router for each surface, so that a path of one that the fast router cannot take does not slow the others down: one
// static segment beside a parameter under `/api` would cost every `/v1/…/query` a walk through a tree.
import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";

const SURFACES = ["/v1/", "/p/"] as const;

export class SurfaceRouter<T> implements Router<T> {
  readonly name = "SurfaceRouter";
  readonly #surfaces = SURFACES.map((prefix) => ({ prefix, router: fastRouter<T>() }));
  readonly #rest = fastRouter<T>();

  add(method: string, path: string, handler: T): void {
    const own = this.#surfaces.find(({ prefix }) => path.startsWith(prefix));
    if (own) return own.router.add(method, path, handler);
    this.#rest.add(method, path, handler);
    // What stands before every path stands before those of the surfaces too.
    if (path === "*" || path === "/*") {
      for (const { router } of this.#surfaces) router.add(method, path, handler);
    }
  }

  match(method: string, path: string): Result<T> {
    for (const { prefix, router } of this.#surfaces) {
      if (path.startsWith(prefix)) return router.match(method, path);
    }
    return this.#rest.match(method, path);
  }
}

function fastRouter<T>(): Router<T> {
  return new SmartRouter<T>({ routers: [new RegExpRouter<T>(), new TrieRouter<T>()] });
}
