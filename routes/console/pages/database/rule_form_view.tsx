// The form that adds or changes a rule, with the tables that its pattern means while one types.
import type { RuleView } from "../../../../lib/services/rules/manage_rules.ts";
import type { MatchedTables } from "../../../../lib/services/rules/matched_tables.ts";
import type { Visit } from "../../../http/visit.ts";
import type { Problem } from "../../frame/attempt.ts";
import type { FormFields } from "../../frame/read_form.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Check } from "../../parts/check.tsx";
import { Field } from "../../parts/field.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";

/** What somebody reads whose form is older than the rule. */
const OVERTAKEN =
  "This rule was changed after you had opened it. Open it in another tab and make your change there";

/** A form that comes back. */
export interface ReturnedRule {
  /** Null: a new one. */
  readonly ruleId: string | null;
  readonly fields: FormFields;
  readonly problem: Problem;
}

/** What the form shows. */
export interface RuleFormProps {
  readonly visit: Visit;
  /** Where the trunk's rules stand. */
  readonly base: string;
  readonly matched: MatchedTables;
  /** The rule that the form changes; null: it adds one. */
  readonly edited: RuleView | null;
  /** A pattern whose tables somebody asks for. */
  readonly tried: string | null;
  readonly returned: ReturnedRule | null;
}

/** For whoever may manage the namespace. */
export function RuleForm(props: RuleFormProps): Html {
  const { visit, base, matched, edited, tried, returned } = props;
  const typed = typedOf(props);
  const problems = returned?.problem.fields ?? {};
  const told = problems["revision"] === undefined ? returned?.problem.message : OVERTAKEN;
  const path = edited === null ? base : `${base}/${encodeURIComponent(edited.id)}`;
  return (
    <Card
      id="rule"
      title={edited === null ? "New rule" : "Change the rule"}
      end={edited === null ? undefined : <a href={base}>Add another instead</a>}
    >
      <Form
        visit={visit}
        action={path}
        kind="form"
        hidden={edited === null
          ? {}
          : { revision: returned?.fields.optional("revision") ?? String(edited.revision) }}
      >
        {told ? <Notice tone="bad">{told}</Notice> : null}
        <div
          hx-get={base}
          hx-trigger="input from:#tableGlob-field delay:200ms"
          hx-include="#tableGlob-field"
          hx-target="#meant"
          hx-select="#meant"
          hx-swap="outerHTML"
          hx-sync="this:replace"
        >
          <Field
            label="Tables"
            name="tableGlob"
            value={typed.tableGlob}
            problem={problems["tableGlob"]}
            hint="A name, or a pattern: * is any text, ? one character"
            placeholder="orders*"
            maxLength={200}
            required
          />
        </div>
        <Meant id="meant" glob={tried ?? typed.tableGlob} matched={matched} />
        <fieldset>
          <legend>Writes, all where none is ticked</legend>
          {actions.map(([value, label]) => (
            <Check label={label} name="actions" value={value} checked={typed.actions.includes(value)} />
          ))}
        </fieldset>
        <fieldset>
          <legend>What becomes of them</legend>
          <Check
            radio
            label="They wait for a person"
            hint="An admin sees every row and decides"
            name="effect"
            value="require_approval"
            checked={typed.effect !== "deny"}
          />
          <Check
            radio
            label="They are denied"
            hint="Nobody can let them pass while the rule is on"
            name="effect"
            value="deny"
            checked={typed.effect === "deny"}
          />
        </fieldset>
        <Field
          label="Only from so many rows on"
          name="minRows"
          type="number"
          min="1"
          value={typed.minRows}
          problem={problems["minRows"]}
          hint="Empty: whatever their number"
        />
        <Check
          label="Only without a WHERE that tells rows apart"
          name="unboundedOnly"
          checked={typed.unboundedOnly}
        />
        <Field
          label="Rows that may come or go until it runs"
          name="tolerance"
          type="number"
          min="0"
          value={typed.tolerance}
          problem={problems["tolerance"]}
          hint="0: what was approved runs, or nothing"
        />
        <Field
          label="Why, for whoever decides"
          name="note"
          type="textarea"
          value={typed.note}
          problem={problems["note"]}
          maxLength={1000}
        />
        <Button kind="primary" icon={edited === null ? "plus" : "check"}>
          {edited === null ? "Add the rule" : "Save the rule"}
        </Button>
      </Form>
    </Card>
  );
}

/** Value and name of each. */
const actions = [
  ["insert", "Inserts"],
  ["update", "Updates"],
  ["delete", "Deletes"],
  ["schema", "Changes of the schema"],
] as const;

/** What stands in the fields: what was typed, else what the rule says. */
function typedOf({ returned, edited, tried }: RuleFormProps) {
  if (returned !== null) {
    const { fields } = returned;
    return {
      tableGlob: fields.exact("tableGlob"),
      actions: fields.all("actions"),
      effect: fields.text("effect"),
      minRows: fields.exact("minRows"),
      unboundedOnly: fields.has("unboundedOnly"),
      tolerance: fields.exact("tolerance"),
      note: fields.exact("note"),
    };
  }
  return {
    tableGlob: tried ?? edited?.tableGlob ?? "",
    actions: edited?.actions ?? [],
    effect: edited?.effect ?? "require_approval",
    minRows: String(edited?.minRows ?? ""),
    unboundedOnly: edited?.unboundedOnly ?? false,
    tolerance: String(edited?.tolerance ?? 0),
    note: edited?.note ?? "",
  };
}

/** The tables that a pattern means now. */
export function Meant({ glob, matched, id }: { glob: string; matched: MatchedTables; id?: string }): Html {
  const names = glob === "" ? [] : matched(glob);
  return (
    <p id={id} class="note" role="status">
      {glob === ""
        ? "The tables that it means stand here while you type."
        : names.length === 0
        ? "No table has such a name now; one that comes later is under it at once."
        : (
          <>
            Means {counted(names.length, "table")} now: {names.slice(0, SHOWN).map((name, at) => (
              <>
                {at > 0 ? ", " : ""}
                <code>{name}</code>
              </>
            ))}
            {names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ""}
          </>
        )}
    </p>
  );
}

const SHOWN = 12;
