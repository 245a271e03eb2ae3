// Pages of the console as a browser without script asks for them.
import type { ApiAnswer } from "../testing/call_api.ts";
import type { TestPerson } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";

/** A GET, by somebody who is signed in or by nobody. */
export async function openPage(
  app: StartedApp,
  path: string,
  person: TestPerson | null,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiAnswer> {
  return await app.request("GET", path, {
    headers: { ...(person === null ? {} : { cookie: person.cookie }), ...headers },
  });
}

export interface SentForm {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly person: TestPerson | null;
  /** Laid over those that a browser sends. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the session's own. */
  readonly csrf?: string;
}

/** A form as a page of the console sends it. */
export async function sendForm(app: StartedApp, form: SentForm): Promise<ApiAnswer> {
  const { path, fields, person, csrf = person?.csrfToken } = form;
  return await app.request("POST", path, {
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      origin: new URL(app.deps.baseUrl).origin,
      ...(person === null ? {} : { cookie: person.cookie }),
      ...form.headers,
    },
    body: new URLSearchParams({ ...(csrf === undefined ? {} : { csrf }), ...fields }).toString(),
  });
}
