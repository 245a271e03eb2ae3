// /console/:ns/tokens: keys for programs. A new one is shown once, in the answer to the form that makes it.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { requireNamespaceAdmin } from "../../../../lib/access/caller.ts";
import { listDatabases, readIds, readSlugs } from "../../../../lib/services/databases/manage_databases.ts";
import { createToken, listTokens, revokeToken } from "../../../../lib/services/tokens/manage_tokens.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { displayName, role } from "../../../http/schemas.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { type MadeToken, Tokens } from "./tokens_view.tsx";
import { chosenSec } from "../../../../lib/core/limits.ts";

/** Most databases that the form offers one by one, and that a token may name. */
const OFFERED = 30;
const MAX_SCOPES = 100;
const PAGE_SIZE = 100;
const tokenForm = z.object({
  name: displayName,
  role,
  scopes: z.array(z.string().max(64)).max(MAX_SCOPES),
  expiresInSec: z.coerce.number().int().min(chosenSec.token.least).max(chosenSec.token.most).optional(),
});

/** Mounted under `/console`. */
export function tokensRoutes(deps: AppDeps): Hono<Env> {
  const page = async (
    c: Context<Env>,
    came: { readonly returned?: Returned<"create">; readonly made?: MadeToken },
  ) => {
    const namespace = c.req.param("ns") ?? "";
    const ctx = manageContext(deps, c);
    const [tokens, databases] = await Promise.all([
      listTokens(ctx, {
        namespaceSlug: namespace,
        cursor: c.req.query("after") ?? null,
        pageSize: PAGE_SIZE,
      }),
      listDatabases(ctx, { namespaceSlug: namespace, cursor: null, pageSize: OFFERED }),
    ]);
    const { made } = came;
    const reached = new Set(
      [...tokens.items, ...made ? [made] : []].flatMap(({ scopes }) =>
        scopes.map(({ databaseId }) => databaseId)
      ),
    );
    return await renderPage(
      c,
      {
        title: `Tokens of ${namespace}`,
        namespace,
        active: "Tokens",
        status: came.returned?.problem.status ?? (came.made ? 201 : 200),
      },
      <Tokens
        visit={c.get("visit")}
        namespace={namespace}
        baseUrl={deps.baseUrl}
        tokens={tokens.items}
        nextCursor={tokens.nextCursor}
        databases={databases.nextCursor === null ? databases.items : null}
        example={databases.items[0]?.slug ?? "shop"}
        slugs={await readSlugs(ctx, namespace, [...reached])}
        returned={came.returned ?? null}
        made={made ?? null}
        revoked={c.req.query("revoked") !== undefined}
      />,
    );
  };
  return new Hono<Env>()
    .get("/:ns/tokens", (c) => page(c, {}))
    .post("/:ns/tokens", async (c) => {
      const [ctx, namespaceSlug, fields] = [manageContext(deps, c), c.req.param("ns"), await readForm(c)];
      const made = await attempt(async () => {
        const named = await readIds(ctx, { namespaceSlug, slugs: fields.names("names"), field: "names" });
        return await createToken(ctx, { namespaceSlug, ...tokenOf(fields, named) });
      });
      if (!made.ok) return await page(c, { returned: { form: "create", fields, problem: made.problem } });
      return await page(c, { made: made.value });
    })
    .get("/:ns/tokens/:id/revoke", async (c) => {
      const { ns: namespace, id } = c.req.param();
      requireNamespaceAdmin(c.get("caller"), namespace);
      return await renderPage(
        c,
        { title: "Revoke a token", namespace, active: "Tokens" },
        <Confirm
          visit={c.get("visit")}
          title="Revoke this token?"
          action={`/console/${namespace}/tokens/${encodeURIComponent(id)}/revoke`}
          act="Revoke it"
          back={`/console/${namespace}/tokens`}
        >
          <p>
            Whatever sends <code>{id}</code> is refused within 5 seconds, for good.
          </p>
        </Confirm>,
      );
    })
    .post("/:ns/tokens/:id/revoke", async (c) => {
      const { ns: namespaceSlug, id } = c.req.param();
      await revokeToken(manageContext(deps, c), { namespaceSlug, id });
      return c.redirect(`/console/${namespaceSlug}/tokens?revoked`, 303);
    });
}

/** What the form asks for, as the API would be asked. Errors: `validation_failed`. */
function tokenOf(fields: FormFields, named: readonly string[]) {
  const { scopes, ...token } = checked(tokenForm, {
    name: fields.text("name"),
    role: fields.text("role"),
    scopes: [...new Set([...fields.all("database"), ...named])],
    expiresInSec: fields.optional("expires"),
  }, { name: "Say what it is for, so that somebody knows later", role: "Choose what it may do" });
  return {
    ...token,
    scopes: scopes.map((databaseId) => ({ databaseId, branchRef: "main", role: token.role })),
  };
}
