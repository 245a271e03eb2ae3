// What the page of the databases shows.
import type { UsageFigures } from "../../../../lib/services/money/manage_money.ts";
import { mayManage } from "../../frame/may_manage.ts";
import { counted, usd, whole } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { PageHead } from "../../parts/page_head.tsx";
import { Tiles } from "../../parts/tiles.tsx";
import type { DatabasesProps } from "./databases_props.ts";
import { DatabaseForms } from "./database_forms.tsx";
import { DatabaseList } from "./database_list_view.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** The page. */
export function Databases(props: DatabasesProps): Html {
  const { today, rail, visit, namespace } = props;
  const sum = (pick: (used: UsageFigures) => number) =>
    [...today.values()].reduce((total, one) => total + pick(one), 0);
  const manages = mayManage(visit, namespace);
  return (
    <>
      <PageHead title="Databases" />
      <div class="stack">
        <Told {...props} />
        <Spent {...props} />
        <Tiles
          label="Today"
          tiles={[
            { name: "Cost today", value: usd(sum((one) => one.costUsd)), about: "since midnight UTC" },
            {
              name: "Calls today",
              value: whole(sum((one) => one.requests)),
              about: counted(sum((one) => one.rowsRead), "row read", "rows read"),
            },
            { name: "Balance", value: usd(rail.balanceUsd), about: `of ${usd(rail.creditedUsd)} credited` },
            {
              name: "Waiting for a person",
              value: <a href={`/console/${namespace}/approvals`}>{counted(rail.waiting, "approval")}</a>,
              about: rail.waiting === 0 ? "nothing to decide" : "decide what may run",
              warn: rail.waiting > 0,
            },
          ]}
        />
        <div class={manages ? "beside" : "stack"}>
          <DatabaseList {...props} />
          {manages ? <DatabaseForms {...props} /> : null}
        </div>
      </div>
    </>
  );
}

/** Why nothing runs, before somebody looks for it in a database. */
function Spent({ namespace, rail: { spent } }: DatabasesProps): Html | null {
  if (spent === null) return null;
  return (
    <Notice tone="warn">
      {spent === "balance"
        ? "The balance is used up: calls are refused until the operator of the service adds credit."
        : (
          <>
            The <a href={`/console/${namespace}/settings`}>monthly cap</a>{" "}
            is reached: calls are refused until it is raised, or until the next month begins, at midnight UTC.
          </>
        )}
    </Notice>
  );
}

function Told({ visit, namespace, deleted, back, made }: DatabasesProps): Html | null {
  if (made) {
    return (
      <Notice tone="good">
        {namespace} is made. Next: <a href={`/console/${namespace}/members`}>invite its first admin</a>, or
        {" "}
        <a href={`/console/${namespace}/tokens`}>make a token</a> for a program.
      </Notice>
    );
  }
  if (back !== null) {
    return <Notice tone="good">{visibleText(back)} is back, as it was when it was deleted.</Notice>;
  }
  if (deleted === null) return null;
  return (
    <Notice tone="good">
      <Form visit={visit} action={`/console/${namespace}/databases/bring-back`} hidden={{ slug: deleted }}>
        {visibleText(deleted)} was deleted. For 7 days it can be brought back:{" "}
        <button class="link-button" type="submit">bring it back now</button>
      </Form>
    </Notice>
  );
}
