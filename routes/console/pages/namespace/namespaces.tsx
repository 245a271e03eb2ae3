// /console/-/namespaces: all namespaces of the service, for the operator.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { createNamespace, listNamespaces } from "../../../../lib/services/namespaces/manage_namespaces.ts";
import { MOST_WAITING } from "../../../../lib/control/approvals.ts";
import { glanceAt } from "../../../../lib/services/money/glance_at.ts";
import type { NamespaceView } from "../../../../lib/services/namespaces/namespace_record.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { displayName, slug } from "../../../http/schemas.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import type { Visit } from "../../../http/visit.ts";
import type { Glance } from "../../../../lib/services/money/glance_at.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { readForm } from "../../frame/read_form.ts";
import { furtherQuery, type SearchedPage, searchedPage } from "../../frame/searched_page.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { counted, usd } from "../../parts/figures.ts";
import { Finder, NothingFound } from "../../parts/finder.tsx";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { PageHead } from "../../parts/page_head.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** Each row reads an account: a page of so many. */
const PAGE_SIZE = 50;
const newNamespace = z.object({ slug, name: displayName.optional() });

/** Mounted under `/console`. */
export function namespacesRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, returned: Returned<"create"> | null) => {
    const ctx = { ...manageContext(deps, c), approvals: deps.query.approvals };
    const list = await searchedPage(c, PAGE_SIZE, (page) => listNamespaces(ctx, page));
    const items = await Promise.all(
      list.items.map(async (namespace) => ({ ...namespace, facts: await glanceAt(ctx, namespace.slug) })),
    );
    return await renderPage(
      c,
      { title: "Namespaces", returned },
      <Namespaces
        visit={c.get("visit")}
        baseUrl={deps.baseUrl}
        list={{ ...list, items }}
        returned={returned}
        deleted={slug.safeParse(c.req.query("deleted")).data ?? null}
        unheeded={deps.config.trustProxy === 0 && c.req.header("x-forwarded-for") !== undefined}
      />,
    );
  };
  return new Hono<Env>()
    .get("/-/namespaces", (c) => page(c, null))
    .post("/-/namespaces", async (c) => {
      const fields = await readForm(c);
      const made = await attempt(() => {
        const sent = { slug: fields.text("slug"), name: fields.optional("name") };
        const words = {
          slug: "Use lower-case letters, digits and hyphens, a letter first, at most 41 characters",
        };
        return createNamespace(manageContext(deps, c), checked(newNamespace, sent, words));
      });
      if (!made.ok) return await page(c, { form: "create", fields, problem: made.problem });
      return c.redirect(`/console/${made.value.slug}?made`, 303);
    });
}

interface NamespacesProps {
  readonly visit: Visit;
  readonly baseUrl: string;
  readonly list: SearchedPage<NamespaceView & { readonly facts: Glance }>;
  readonly returned: Returned<"create"> | null;
  readonly deleted: string | null;
  /** A proxy has said who asks, and the settings say that there is none. */
  readonly unheeded: boolean;
}

function Namespaces(props: NamespacesProps): Html {
  const { visit, baseUrl, list, returned, deleted, unheeded } = props;
  const field = fieldsOf(returned, "create");
  const message = messageOf(returned, "create");
  return (
    <>
      <PageHead
        title="Namespaces"
        about="A namespace is one tenant: its databases, members, tokens and balance. You see all of them with the operator key."
      />
      <div class="stack">
        {unheeded ? <Unheeded /> : null}
        {deleted === null ? null : <Notice tone="good">{deleted} is deleted, with everything in it.</Notice>}
        <div class="beside">
          {list.items.length === 0 && !list.isPart
            ? (
              <EmptyCard icon="database" title="No namespace yet">
                <p>Make the first one here, or from a terminal:</p>
                <CopyLine
                  label="the command"
                  text={`curl -H "Authorization: Bearer $OPERATOR_KEY" ${baseUrl}/api/namespaces -d '{"slug":"acme"}'`}
                />
              </EmptyCard>
            )
            : <Found visit={visit} list={list} />}
          <Card id="new" title="New namespace">
            <Form visit={visit} action="/console/-/namespaces" kind="form">
              {message === null ? null : <Notice tone="bad">{message}</Notice>}
              <Field
                {...field("slug")}
                label="Slug"
                hint="Its part of every address: lower-case letters, digits, hyphens"
                placeholder="acme"
                maxLength={64}
                required
              />
              <Field {...field("name")} label="Name, for people" placeholder="Acme" maxLength={200} />
              <Button kind="primary" icon="plus">Make the namespace</Button>
            </Form>
          </Card>
        </div>
      </div>
    </>
  );
}

/** With one address for all, the bounds of one caller are those of everybody. */
function Unheeded(): Html {
  return (
    <Notice tone="warn">
      <p>
        <b>Your request came by a proxy, and this service does not heed whom the proxy names.</b>
      </p>
      <p>
        It carries <code>X-Forwarded-For</code>, and <code>TRUST_PROXY</code>{" "}
        is 0: everybody behind the proxy counts as one address for flood control, rate limits and failed
        sign-ins. Set <code>TRUST_PROXY</code>{" "}
        to the number of proxies before the service, 1 for one, and start it anew.
      </p>
    </Notice>
  );
}

function Found({ visit, list }: Pick<NamespacesProps, "visit" | "list">): Html {
  if (!list.isPart) return <List list={list} />;
  return (
    <div class="stack">
      <Finder visit={visit} path="/console/-/namespaces" find={list.find} all="All namespaces" />
      {list.items.length === 0
        ? <NothingFound of="namespace" path="/console/-/namespaces" />
        : <List list={list} />}
    </div>
  );
}

function List({ list }: Pick<NamespacesProps, "list">): Html {
  const { items, find, nextCursor } = list;
  return (
    <Card
      id="namespaces"
      title={find === "" ? "All namespaces" : `Namespaces that begin with ${visibleText(find)}`}
      full
      foot={nextCursor === null
        ? undefined
        : <a href={`/console/-/namespaces${furtherQuery(list)}`}>Further namespaces</a>}
    >
      <Grid
        label="Namespaces"
        columns={[
          { name: "Namespace" },
          { name: "Waiting" },
          { name: "Balance", numeric: true },
          { name: "Made" },
          { name: "Credit", unseen: true },
        ]}
        rows={items.map(({ slug, name, createdAt, facts }) => [
          <>
            <a href={`/console/${slug}`}>{slug}</a>
            {name === slug ? null : <small>{visibleText(name)}</small>}
          </>,
          facts.waiting === 0 ? <span class="note">nothing</span> : (
            <a href={`/console/${slug}/approvals`}>
              <Pill tone="warn">
                {facts.waiting < MOST_WAITING ? counted(facts.waiting, "approval") : "99+ approvals"}
              </Pill>
            </a>
          ),
          usd(facts.balanceUsd),
          <Time at={createdAt} />,
          <a class="quiet" href={`/console/${slug}/settings`} aria-label={`Credit, settings of ${slug}`}>
            Credit, settings
          </a>,
        ])}
      />
    </Card>
  );
}
