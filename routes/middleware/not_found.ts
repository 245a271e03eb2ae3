// Paths without a handler: 404, or 405 where another method has one.
import type { Context, Hono, MiddlewareHandler, NotFoundHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { AppError } from "../../lib/core/errors.ts";
import { nearMatches } from "../../lib/sql/hints/hints.ts";
import type { Env } from "../http/env.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** For whoever is lost. */
export const WHERE_TO_BEGIN = "/llms.txt tells where to begin, /docs/http-api lists what there is";

/** The handler of last resort. Errors: `not_found`, `method_not_allowed` with `Allow`. */
export function notFound(app: Hono<Env>): NotFoundHandler<Env> {
  return (c) => {
    const allowed = METHODS.filter((method) => hasRoute(app, method, c.req.path));
    if (allowed.length === 0) {
      const near = nearRoute(app, c.req.path);
      const message = `Nothing is at this address; ${
        near === null ? WHERE_TO_BEGIN : `did you mean ${near}?`
      }`;
      throw new AppError("not_found", { message });
    }
    const message = `Use ${allowed.join(" or ")} at this address`;
    if (allowed.includes("GET") && !WITHOUT_HEAD.test(c.req.path)) allowed.push("HEAD");
    throw new AppError("method_not_allowed", { message, headers: { "Allow": allowed.join(", ") } });
  };
}

/** Addresses whose GET makes a file, or an answer without an end. They call `refuseHead`. */
const WITHOUT_HEAD = /^\/(?:api\/backup|v1\/changes\/[^/]+|v1\/db\/[^/]+\/[^/]+\/export)$/;

/** Refuses a HEAD that would do the work of a GET for nobody. Errors: `method_not_allowed` with `Allow`. */
export function refuseHead(c: Context<Env>): void {
  if (c.req.method === "HEAD") throw new AppError("method_not_allowed", { headers: { Allow: "GET" } });
}

/** What other services call a call of this one. */
const calledElsewhere: Readonly<Record<string, string>> = {
  sql: "query",
  exec: "query",
  execute: "query",
  run: "query",
  schema: "describe",
  columns: "describe",
  migrate: "migrations",
  dump: "export",
  backup: "snapshots",
  rollback: "restore",
  undo: "restore",
  reject: "deny",
  branch: "claim_branch",
};

/**
 * The route that differs from the path in one word, misspelt or called so elsewhere, as
 * `POST /v1/db/:ns/:db/query`; null for none. What a path of one word may mean is not guessed.
 */
function nearRoute(app: Hono<Env>, path: string): string | null {
  const words = path.split("/");
  if (words.length < 3) return null;
  for (const { method, path: route } of app.routes) {
    const own = route.split("/");
    if (method === "ALL" || own.length !== words.length) continue;
    const other = own.flatMap((word, at) => word.startsWith(":") || word === words[at] ? [] : [at]);
    const [at = 0] = other;
    const [word = "", meant = ""] = [words[at], own[at]];
    if (other.length !== 1 || !(calledElsewhere[word] === meant || nearMatches(word, [meant]).length > 0)) {
      continue;
    }
    return `${method} ${route}`;
  }
  return null;
}

/** Middleware is mounted for all methods, so only a match with a method of its own is a route. */
function hasRoute(app: Hono<Env>, method: string, path: string): boolean {
  const [matches] = app.router.match(method, path);
  return matches.some(([[, route]]) => route.method === method);
}

/**
 * For a word of the API where other paths have a slug: it allows only POST, and none of the slug's methods. Mounted
 * on the word's own path, whose slug nobody can take. Errors: `method_not_allowed` with `Allow`.
 */
export function onlyPost(): MiddlewareHandler<Env> {
  return (c, next) => {
    if (c.req.method === "POST") return next();
    throw new AppError("method_not_allowed", {
      message: "Use POST at this address",
      headers: { "Allow": "POST" },
    });
  };
}

/** Whether a request has a handler beside middleware. False where the answer is a 404 or a 405. */
export function hasHandler(c: Context<Env>): boolean {
  return matchedRoutes(c).some(({ method }) => method !== "ALL");
}
