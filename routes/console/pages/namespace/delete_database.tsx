// /console/:ns/db/:db/delete: what is lost with a database, and its slug once more.
import { type Context, Hono } from "hono";
import { deleteDatabase, getDatabase } from "../../../../lib/services/databases/manage_databases.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { requireNamespaceAdmin } from "../../../../lib/access/caller.ts";
import { attempt } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { readForm } from "../../frame/read_form.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { bytes } from "../../parts/figures.ts";

/** Mounted under `/console`. */
export function deleteDatabaseRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, returned: Returned<"delete"> | null) => {
    const [namespace = "", slug = ""] = [c.req.param("ns"), c.req.param("db")];
    requireNamespaceAdmin(c.get("caller"), namespace);
    const database = await getDatabase(manageContext(deps, c), { namespaceSlug: namespace, slug });
    const { value, problem } = fieldsOf(returned, "delete")("confirm");
    return await renderPage(
      c,
      { title: `Delete ${slug}`, namespace, active: "Databases", returned },
      <Confirm
        visit={c.get("visit")}
        title={`Delete the database ${slug}?`}
        action={`/console/${namespace}/db/${slug}/delete`}
        act={`Delete ${slug}`}
        back={`/console/${namespace}`}
        typed={{ slug, value, problem }}
        message={messageOf(returned, "delete")}
      >
        <p>
          Its{" "}
          {bytes(database.sizeBytes)}, rules, endpoints and snapshots stop at once for everybody, and its
          branches are gone for good. For 7 days the database itself can be brought back as it is now.
        </p>
      </Confirm>,
    );
  };
  return new Hono<Env>()
    .get("/:ns/db/:db/delete", (c) => page(c, null))
    .post("/:ns/db/:db/delete", async (c) => {
      const fields = await readForm(c);
      const { ns: namespaceSlug, db: slug } = c.req.param();
      const done = await attempt(() =>
        deleteDatabase(manageContext(deps, c), { namespaceSlug, slug, confirm: fields.text("confirm") })
      );
      if (!done.ok) return await page(c, { form: "delete", fields, problem: done.problem });
      return c.redirect(`/console/${namespaceSlug}?deleted=${slug}`, 303);
    });
}
