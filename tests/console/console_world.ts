// A namespace with an admin who opens pages of the console and sends forms, as a browser without script does.
import { assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { openPage, sendForm } from "./open_page.ts";

/** What tests of a page of the database `main` begin with. */
export interface ConsoleWorld {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  readonly admin: TestPerson;
  /** Where the page stands. */
  readonly path: string;
  /** Sends a form by the admin. */
  readonly send: (path: string, fields?: Readonly<Record<string, string>>) => Promise<ApiAnswer>;
  /** What a page holds that the admin may see: `<main>` and all behind it. */
  readonly look: (path: string) => Promise<string>;
}

/** `page`: `rules`, for the page of the rules. `statements` fill the database. */
export async function consoleWorld(
  app: StartedApp,
  { slug, page }: { readonly slug: string; readonly page: string },
  ...statements: readonly string[]
): Promise<ConsoleWorld> {
  const tenant = await app.namespace(slug);
  if (statements.length > 0) await tenant.setup(...statements);
  const admin = await signIn(app, { role: "admin", namespace: slug });
  return {
    ...{ app, tenant, admin, path: `/console/${slug}/db/main/${page}` },
    send: (path, fields = {}) => sendForm(app, { path, fields, person: admin }),
    look: async (path) => {
      const { status, text } = await openPage(app, path, admin);
      assertEquals(status, 200, text.slice(-300));
      return mainOf(text);
    },
  };
}

/** Without the frame around every page. */
export function mainOf(text: string): string {
  return text.slice(text.indexOf("<main"));
}

/** The words of a page. */
export function plain(text: string): string {
  return text.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");
}
