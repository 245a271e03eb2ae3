// /console/:ns: the databases of a namespace, what they cost today, and what waits for a person. They are made and brought
// back here; how one is deleted is a page of its own.
import { DAY_MS } from "../../../../lib/core/clock.ts";
import { type Context, Hono } from "hono";
import { z } from "zod";
import {
  createDatabase,
  listDatabases,
  undeleteDatabase,
} from "../../../../lib/services/databases/manage_databases.ts";
import { readUsageSums } from "../../../../lib/services/money/manage_money.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import { displayName, newSlug, slug } from "../../../http/schemas.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import type { Env } from "../../../http/env.ts";
import { renderPage } from "../../frame/page.tsx";
import { searchedPage } from "../../frame/searched_page.ts";
import { readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import type { DatabasesFacts } from "./databases_props.ts";
import { Databases } from "./databases_view.tsx";

const PAGE_SIZE = 100;
const SLUG_WORDS = "Use lower-case letters, digits and hyphens, a letter first, at most 40 characters";
const newDatabase = z.object({ slug: newSlug, name: displayName.optional() });
const broughtBack = z.object({ slug, into: newSlug.optional() });

/** Mounted under `/console`. */
export function databasesRoutes(deps: AppDeps): Hono<Env> {
  const page = async (
    c: Context<Env>,
    namespace: string,
    returned: Returned<"create" | "bring-back"> | null,
  ) => {
    const facts = await factsOf(deps, c, namespace);
    return await renderPage(
      c,
      {
        title: `Databases of ${namespace}`,
        namespace,
        active: "Databases",
        returned,
      },
      <Databases
        {...facts}
        visit={c.get("visit")}
        namespace={namespace}
        baseUrl={deps.baseUrl}
        returned={returned}
      />,
    );
  };
  return new Hono<Env>()
    .get("/:ns", (c) => page(c, c.req.param("ns"), null))
    .post("/:ns/databases", async (c) => {
      const [namespace, fields] = [c.req.param("ns"), await readForm(c)];
      const made = await attempt(() => {
        const input = checked(newDatabase, { slug: fields.text("slug"), name: fields.optional("name") }, {
          slug: SLUG_WORDS,
        });
        return createDatabase(manageContext(deps, c), { namespaceSlug: namespace, ...input });
      });
      if (!made.ok) return await page(c, namespace, { form: "create", fields, problem: made.problem });
      return c.redirect(`/console/${namespace}/db/${made.value.slug}`, 303);
    })
    .post("/:ns/databases/bring-back", async (c) => {
      const [namespace, fields] = [c.req.param("ns"), await readForm(c)];
      const back = await attempt(() => {
        const sent = { slug: fields.text("slug"), into: fields.optional("into") };
        const input = checked(broughtBack, sent, { slug: SLUG_WORDS, into: SLUG_WORDS });
        return undeleteDatabase(manageContext(deps, c), { namespaceSlug: namespace, ...input });
      });
      if (!back.ok) return await page(c, namespace, { form: "bring-back", fields, problem: back.problem });
      return c.redirect(`/console/${namespace}?back=${back.value.slug}`, 303);
    });
}

async function factsOf(
  deps: AppDeps,
  c: Context<Env>,
  namespaceSlug: string,
): Promise<DatabasesFacts> {
  const ctx = manageContext(deps, c);
  const visit = c.get("visit");
  const dayStart = visit.now - visit.now % DAY_MS;
  const [list, { byDatabase: today }, rail] = await Promise.all([
    searchedPage(c, PAGE_SIZE, (page) => listDatabases(ctx, { namespaceSlug, ...page })),
    readUsageSums(ctx, { namespaceSlug, fromMs: dayStart, toMs: null, by: "day", databaseId: null }),
    visit.railOf(namespaceSlug),
  ]);
  const slugIn = (name: string) => slug.safeParse(c.req.query(name)).data ?? null;
  return {
    list,
    today,
    rail,
    deleted: slugIn("deleted"),
    back: slugIn("back"),
    made: c.req.query("made") !== undefined,
  };
}
