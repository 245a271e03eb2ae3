// Failures as pages: what went wrong, what to do, and the number by which the log knows it. Whoever is not signed in is
// led to the sign-in and back.
import type { Context, ErrorHandler } from "hono";
import { AppError } from "../../../lib/core/errors.ts";
import type { Log } from "../../../lib/core/log.ts";
import { errorBoundary } from "../../middleware/error_boundary.ts";
import type { Env } from "../../http/env.ts";
import { renderPage } from "./page.tsx";
import { Button } from "../parts/button.tsx";
import type { Html } from "../parts/html.ts";

const titles: Readonly<Record<number, string>> = {
  400: "That did not work",
  402: "The balance is used up",
  403: "You may not do that",
  404: "There is nothing here",
  405: "There is nothing here",
  409: "Something has changed",
  413: "That is too much at once",
  421: "Not under this address",
  429: "Too many attempts",
  503: "Not available at the moment",
};

/** Answers as pages what `errorBoundary` answers as JSON, with the same status. */
export function failurePage({ log }: { readonly log: Log }): ErrorHandler<Env> {
  const boundary = errorBoundary(log);
  return async (error, c) => {
    const ended = error instanceof AppError && error.code === "session_ended";
    if (ended && c.req.method === "GET" && c.req.path !== SIGN_IN) return c.redirect(signInPath(c), 302);
    // It decides about the status, and logs what nobody expected.
    const { status, headers } = await boundary(error, c);
    const message = error instanceof AppError
      ? error.message
      : "The service has failed here, and has noted it";
    const issues = error instanceof AppError ? error.facts.issues ?? [] : [];
    if (c.get("visit") === undefined) {
      return new Response(`${message}\n`, {
        status,
        headers: { "content-type": "text/plain; charset=utf-8" },
      });
    }
    const page = await renderPage(
      c,
      { title: titles[status] ?? "That did not work" },
      <Failure title={titles[status] ?? "That did not work"} message={message} requestId={c.get("requestId")}>
        {issues.map(({ path, message }) => <li>{path === "" ? message : `${path}: ${message}`}</li>)}
      </Failure>,
    );
    for (const name of ["retry-after", "allow"]) {
      const value = headers.get(name);
      if (value !== null) page.headers.set(name, value);
    }
    return new Response(page.body, { status, headers: page.headers });
  };
}

interface FailureProps {
  readonly title: string;
  readonly message: string;
  readonly requestId: string;
  readonly children: Html[];
}

function Failure({ title, message, requestId, children }: FailureProps): Html {
  return (
    <div class="card">
      <div class="body form">
        <h1>{title}</h1>
        <p>{message}</p>
        {children.length === 0 ? null : <ul>{children}</ul>}
        <p class="note">
          Request <code>{requestId}</code>
        </p>
        <div class="end">
          <Button href="/console">To the console</Button>
        </div>
      </div>
    </div>
  );
}

const SIGN_IN = "/console/-/sign-in";

/** The sign-in, which leads back to this page. */
function signInPath(c: Context<Env>): string {
  const { pathname, search } = new URL(c.req.url);
  const here = pathname + search;
  return /^\/console\/?$/.test(here) ? SIGN_IN : `${SIGN_IN}?next=${encodeURIComponent(here)}`;
}
