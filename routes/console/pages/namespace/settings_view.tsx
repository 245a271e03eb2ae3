// What the page of the settings shows.
import type { BalanceView } from "../../../../lib/services/money/manage_money.ts";
import type { NamespaceDetail } from "../../../../lib/services/namespaces/namespace_record.ts";
import type { Visit } from "../../../http/visit.ts";
import { mayManage } from "../../frame/may_manage.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Field } from "../../parts/field.tsx";
import { usd } from "../../parts/figures.ts";
import { Fold } from "../../parts/fold.tsx";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { PageHead } from "../../parts/page_head.tsx";
import { Tiles } from "../../parts/tiles.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** The forms of the page. */
export type SettingsForm = "change" | "credit" | "delete";

/** What the page tells. */
export interface SettingsProps {
  readonly visit: Visit;
  readonly namespace: NamespaceDetail;
  readonly balance: BalanceView;
  readonly returned: Returned<SettingsForm> | null;
  readonly saved: boolean;
  readonly credited: boolean;
}

/** The page. */
export function Settings(props: SettingsProps): Html {
  const { visit, namespace, balance, saved, credited } = props;
  const isOperator = visit.person?.caller.kind === "operator";
  return (
    <>
      <PageHead title="Settings" />
      <div class="stack">
        {saved ? <Notice tone="good">Saved.</Notice> : null}
        {credited ? <Notice tone="good">The credit is added.</Notice> : null}
        <Tiles
          label="Money"
          tiles={[
            { name: "Balance", value: usd(balance.balanceUsd + balance.reservedUsd), about: "free to spend" },
            { name: "Used this month", value: usd(balance.monthUsedUsd), about: capText(balance) },
            { name: "Used in all", value: usd(balance.usedUsd), about: "since the beginning" },
            { name: "Credited", value: usd(balance.creditedUsd), about: writtenOff(balance) },
          ]}
        />
        <Change {...props} manages={mayManage(visit, namespace.slug)} />
        {isOperator ? <Credit {...props} /> : null}
        {isOperator ? <End {...props} /> : null}
      </div>
    </>
  );
}

function capText({ monthlyCapUsd }: BalanceView): string {
  return monthlyCapUsd === null ? "no cap" : `of ${usd(monthlyCapUsd)} a month`;
}

function writtenOff({ writtenOffUsd }: BalanceView): string {
  return writtenOffUsd > 0 ? `${usd(writtenOffUsd)} used beyond it` : "by the operator";
}

function Change({ visit, namespace, returned, manages }: SettingsProps & { manages: boolean }): Html {
  const field = fieldsOf(returned, "change");
  const message = messageOf(returned, "change");
  const { slug, name, monthlyCapUsd } = namespace;
  if (!manages) {
    return (
      <Card id="namespace" title={visibleText(name)}>
        <p class="note">Admins of {slug} change its name and what it may spend in a month.</p>
      </Card>
    );
  }
  return (
    <Card id="namespace" title="Namespace" about={slug} kind="narrow">
      <Form visit={visit} action={`/console/${slug}/settings`} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <Field {...field("name", name)} label="Name, for people" maxLength={200} required />
        <Field
          {...field("monthlyCapUsd", monthlyCapUsd === null ? "" : String(monthlyCapUsd))}
          label="Most that may be spent in a month, in dollars"
          hint="Calls beyond it are refused until the next month begins, at midnight UTC. Empty: no cap."
          placeholder="25"
        />
        <div class="end">
          <Button kind="primary">Save</Button>
        </div>
      </Form>
    </Card>
  );
}

function Credit({ visit, namespace, returned }: SettingsProps): Html {
  const field = fieldsOf(returned, "credit");
  const message = messageOf(returned, "credit");
  return (
    <Card id="credit" title="Add credit" kind="narrow">
      <Form visit={visit} action={`/console/${namespace.slug}/settings/credit`} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <Field {...field("amountUsd")} label="Dollars" placeholder="10" required />
        <Field
          {...field("reference")}
          label="Reference"
          hint="An invoice or a note. The same reference counts once, however often it is sent."
          placeholder="invoice-17"
          maxLength={200}
          required
        />
        <div class="end">
          <Button kind="primary" icon="plus">Add the credit</Button>
        </div>
      </Form>
    </Card>
  );
}

function End({ visit, namespace, returned }: SettingsProps): Html {
  const field = fieldsOf(returned, "delete");
  const message = messageOf(returned, "delete");
  return (
    <Fold title="Delete this namespace" open={returned?.form === "delete"} kind="narrow">
      <Form visit={visit} action={`/console/${namespace.slug}/settings/delete`} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <p>Its databases, members, tokens and what is left of its balance go at once and for good.</p>
        <Field {...field("confirm")} label={`Type ${namespace.slug} to confirm`} required />
        <div class="end">
          <Button kind="danger" icon="trash">Delete {namespace.slug}</Button>
        </div>
      </Form>
    </Fold>
  );
}
