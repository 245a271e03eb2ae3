// What the doctor has found, each with its fix: a statement is shown before it runs, as any other.
import type { Role } from "../../../../lib/core/role.ts";
import type { Finding } from "../../../../lib/services/schema/doctor/examined.ts";
import type { DoctorResult } from "../../../../lib/services/schema/doctor/examine_schema.ts";
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Pill } from "../../parts/pill.tsx";
import { Coloured } from "../../parts/sql_text.tsx";
import { visibleLines, visibleText } from "../../parts/visible_text.ts";
import { fixOf } from "./finding_fix.ts";

/** What is shown, and to whom. */
export interface FindingsProps {
  readonly visit: Visit;
  readonly base: string;
  readonly role: Role;
  readonly result: DoctorResult;
}

/** Findings that are listed: who mends these sees the next. */
const MOST = 50;
const tones = { error: "bad", warning: "warn", info: "plain" } as const;

/** The card; an element of this id is what it is put in the place of. */
export function Findings({ visit, base, role, result: { findings, tablesScanned } }: FindingsProps): Html {
  const urgent = ({ severity }: Finding) => severity === "error" ? 0 : severity === "warning" ? 1 : 2;
  const sorted = findings.toSorted((a, b) => urgent(a) - urgent(b));
  return (
    <div id="findings">
      <Card
        id="findings-title"
        title="Findings"
        about={`${counted(findings.length, "finding")} in ${counted(tablesScanned, "table")}`}
        full
      >
        {findings.length === 0 ? <p class="note body">Nothing to mend.</p> : (
          <ul class="findings">
            {sorted.slice(0, MOST).map((one) => <One finding={one} visit={visit} base={base} role={role} />)}
          </ul>
        )}
      </Card>
    </div>
  );
}

function One(
  { finding, visit, base, role }: { finding: Finding; visit: Visit; base: string; role: Role },
): Html {
  const { severity, table, column, message, suggestion } = finding;
  const fix = fixOf(suggestion);
  const where = column === null ? table : `${table}.${column}`;
  return (
    <li>
      <p>
        <Pill tone={tones[severity]}>{severity}</Pill> <b>{visibleText(where)}</b> {visibleText(message)}
      </p>
      {fix.kind === "sql" && role === "admin"
        ? (
          <Form visit={visit} action={`${base}/sql`} hidden={{ sql: fix.sql, do: "run" }} kind="fix">
            <code>
              <Coloured sql={fix.sql.slice(0, 400)} />
            </code>
            <Button small>Propose the fix</Button>
          </Form>
        )
        : fix.kind === "describe" && role === "admin"
        ? <a href={`${base}?${new URLSearchParams({ table })}#tables`}>Describe it</a>
        : fix.kind === "endpoint"
        ? <a href={`${base}/endpoints/${fix.slug}?gates#gates`}>Open the endpoint</a>
        : fix.kind === "sql"
        ? <code>{visibleLines(fix.sql.slice(0, 400))}</code>
        : <CopyLine text={suggestion} label="the call that mends it" />}
    </li>
  );
}
