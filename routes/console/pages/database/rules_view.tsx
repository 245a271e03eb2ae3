// What the page of the rules shows: each rule as a sentence, the tables it means now, and a form to write one.
import type { RuleView } from "../../../../lib/services/rules/manage_rules.ts";
import { mayManage } from "../../frame/may_manage.ts";
import { AskFirst } from "../../parts/ask_first.tsx";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Quote } from "../../parts/quote.tsx";
import { Meant, RuleForm, type RuleFormProps } from "./rule_form_view.tsx";

/** What the page tells. */
export interface RulesProps extends RuleFormProps {
  readonly namespace: string;
  readonly onBranch: boolean;
  readonly rules: readonly RuleView[];
}

/** The page. */
export function Rules(props: RulesProps): Html {
  const { visit, namespace, base, onBranch } = props;
  if (onBranch) {
    return (
      <Notice>
        Rules belong to the trunk:{" "}
        <a href={base}>see them there</a>. What a branch changes is held when it is merged.
      </Notice>
    );
  }
  return (
    <div class={mayManage(visit, namespace) ? "beside" : "stack"}>
      <div class="stack">{props.rules.length === 0 ? <NoRules {...props} /> : <List {...props} />}</div>
      {mayManage(visit, namespace) ? <RuleForm {...props} /> : null}
    </div>
  );
}

function List({ rules, ...props }: RulesProps): Html {
  return (
    <>
      {rules.map((rule) => (
        <Card
          id={rule.id}
          title={titleOf(rule)}
          end={rule.enabled
            ? (
              <Pill
                tone={rule.effect === "deny" ? "bad" : "warn"}
                icon={rule.effect === "deny" ? "cross" : "shield"}
              >
                {rule.effect === "deny" ? "Denied" : "Needs a person"}
              </Pill>
            )
            : <Pill>Off</Pill>}
          foot={mayManage(props.visit, props.namespace) ? <Acts rule={rule} {...props} /> : undefined}
        >
          <div class="form">
            <p>{sentenceOf(rule)}</p>
            {rule.note === null ? null : <Quote>{rule.note}</Quote>}
            <Meant glob={rule.tableGlob} matched={props.matched} />
            {rule.warnings.map(({ message }) => <Notice tone="warn">{message}</Notice>)}
          </div>
        </Card>
      ))}
    </>
  );
}

function Acts({ rule, base, visit }: Pick<RulesProps, "base" | "visit"> & { rule: RuleView }): Html {
  const path = `${base}/${encodeURIComponent(rule.id)}`;
  return (
    <div class="acts">
      <Button small href={`${base}?edit=${encodeURIComponent(rule.id)}#rule`}>Change</Button>
      <Form visit={visit} action={`${path}/enabled`} hidden={{ enabled: rule.enabled ? "no" : "yes" }}>
        <Button small>{rule.enabled ? "Turn off" : "Turn on"}</Button>
      </Form>
      <AskFirst
        visit={visit}
        action={`${path}/delete`}
        ask="Delete"
        name={`Delete the rule: ${titleOf(rule)}`}
        act="Delete the rule"
      >
        What it stopped runs again at once. Turned off, it can be turned on again.
      </AskFirst>
    </div>
  );
}

function NoRules({ visit, namespace, base }: RulesProps): Html {
  return (
    <EmptyCard icon="shield" title="No rule yet">
      <p>
        Without rules every write runs that a token's role allows. A rule makes some wait for a person, or
        denies them. Three that many begin with:
      </p>
      {mayManage(visit, namespace)
        ? examples.map(([words, hidden]) => (
          <Form visit={visit} action={base} hidden={hidden}>
            <Button small icon="plus">{words}</Button>
          </Form>
        ))
        : <ul>{examples.map(([words]) => <li>{words}</li>)}</ul>}
    </EmptyCard>
  );
}

/** What a button of the empty page says, and the rule that it makes. */
const examples: readonly (readonly [words: string, fields: Readonly<Record<string, string>>])[] = [
  ["Deletes without a bound wait", {
    tableGlob: "*",
    actions: "delete",
    effect: "require_approval",
    unboundedOnly: "yes",
    note: "Nobody empties a table unseen",
  }],
  ["Updates of 100 rows or more wait", {
    tableGlob: "*",
    actions: "update",
    effect: "require_approval",
    minRows: "100",
    note: "Large changes are looked at by a person",
  }],
  ["Changes of the schema wait", {
    tableGlob: "*",
    actions: "schema",
    effect: "require_approval",
    note: "The schema changes by review",
  }],
];

const actionNames = {
  insert: "inserts",
  update: "updates",
  delete: "deletes",
  schema: "changes of the schema",
} as const;

function actionsOf({ actions }: RuleView): string {
  const names = (actions ?? []).map((action) => actionNames[action]);
  const [last = "all writes", ...before] = names.reverse();
  return before.length === 0 ? last : `${before.reverse().join(", ")} and ${last}`;
}

function titleOf(rule: RuleView): string {
  return capital(`${actionsOf(rule)} of ${rule.tableGlob}`);
}

function sentenceOf(rule: RuleView): string {
  const bounds = [
    rule.minRows === null ? "" : `that touch ${counted(rule.minRows, "row")} or more`,
    rule.unboundedOnly ? "without a WHERE that tells rows apart" : "",
  ].filter((one) => one !== "").join(", ");
  const which = `${titleOf(rule)}${bounds === "" ? "" : ` ${bounds}`}`;
  if (rule.effect === "deny") return `${which} are denied.`;
  const drift = rule.tolerance === 0
    ? "What was approved runs, or nothing."
    : `By then up to ${counted(rule.tolerance, "row")} may have come or gone.`;
  return `${which} wait until an admin approves. ${drift}`;
}

function capital(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
