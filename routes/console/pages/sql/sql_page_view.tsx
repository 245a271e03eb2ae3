// The SQL page: the tables at the side, the editor with its values and cost, and what came of it below.
import type { Role } from "../../../../lib/core/role.ts";
import type { TextCheck } from "../../../../lib/services/editor/check_text.ts";
import type { PreparedText } from "../../../../lib/services/editor/prepare_text.ts";
import type { HistoryEntry } from "../../../../lib/services/editor/read_history.ts";
import type { TableSummary } from "../../../../lib/services/schema/list_tables.ts";
import type { SchemaFacts } from "../../../../lib/services/schema/schema_facts.ts";
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Icon } from "../../parts/icon.tsx";
import { insertedName, SchemaList } from "../../parts/schema_list.tsx";
import { Coloured } from "../../parts/sql_text.tsx";
import { Cost } from "./sql_cost_view.tsx";
import { History } from "./sql_history_view.tsx";
import { type SqlForm, valueNames } from "./sql_form.ts";
import type { SqlAnswer } from "./sql_outcome.ts";
import { Outcome } from "./sql_outcome_view.tsx";
import { Values } from "./sql_values_view.tsx";

/** What the page shows. */
export interface SqlPageProps {
  readonly visit: Visit;
  readonly base: string;
  readonly form: SqlForm;
  readonly answer: SqlAnswer;
  readonly schema: SchemaFacts;
  readonly counts: readonly TableSummary[];
  /** Null where there is no text yet. */
  readonly check: TextCheck | null;
  /** Null where it was not asked for. */
  readonly history: readonly HistoryEntry[] | null;
  /** The reader's role in this database. */
  readonly role: Role;
}

/** The whole page below the tabs. */
export function SqlPage(props: SqlPageProps): Html {
  const { visit, base, form, answer, schema, counts, history, role } = props;
  return (
    <div class="work">
      <SchemaList schema={schema} counts={counts} base={base} />
      <div class="console">
        <Editor {...props} />
        {answer.outcome.kind === "nothing"
          ? (
            <div id="outcome" class="stack">
              {history === null ? null : <History base={base} entries={history} />}
              {form.text === "" && history === null
                ? <Examples schema={schema} base={base} role={role} />
                : null}
            </div>
          )
          : <Outcome visit={visit} base={base} form={form} answer={answer} />}
      </div>
    </div>
  );
}

function Editor({ visit, base, form, answer, schema, check, role }: SqlPageProps): Html {
  const more = {
    "hx-post": `${base}/sql`,
    "hx-target": "#outcome",
    "hx-swap": "outerHTML",
    "hx-sync": "this:replace",
  };
  return (
    <section class="card" aria-label="Editor">
      <Form visit={visit} id="sql-form" action={`${base}/sql`} more={more}>
        <textarea
          class="sql-field"
          name="sql"
          rows={8}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          aria-label="SQL"
          placeholder={role === "read" ? "SELECT …" : "SELECT … or INSERT …"}
          data-editor=""
          data-focus=""
          data-schema={JSON.stringify(completions(schema))}
          {...failureData(answer)}
        >
          {form.text}
        </textarea>
        <div class="bar asked">
          <Values placeholders={answer.prepared.placeholders} count={answer.prepared.statements.length} />
          <Cost check={check} base={base} />
        </div>
        <div class="bar">
          <Button kind="primary" small icon="play" name="do" value="run">
            Run <kbd class="needs-script">Ctrl ↵</kbd>
          </Button>
          <Button small name="do" value="plan">Plan</Button>
          <Button small icon="history" href={`${base}/sql?history`}>History</Button>
          <span class="running" role="status">
            <Icon name="stopwatch" size={14} />
            Running…
            <button class="link-button" type="button" data-act="cancel">Cancel</button>
          </span>
          <span class="end">
            {role === "admin" ? <Button small name="do" value="publish">Publish as endpoint</Button> : null}
          </span>
        </div>
        <template id="unreached">
          <Notice tone="bad">
            No answer has come: the service could not be reached. Nothing was written, for what writes is
            shown first. Run it again once you are connected.
          </Notice>
        </template>
        <p class="unseen" id="sql-keys">
          Control and Enter run it. Control and Space complete. Tab leaves the editor.
        </p>
        <p class="unseen" role="status" id="sql-came"></p>
      </Form>
    </section>
  );
}

/** Completion: each table with its columns, as they are written in a statement. */
function completions({ tables }: SchemaFacts): Record<string, string[]> {
  return Object.fromEntries(
    tables.map(({ name, columns }) => [name, columns.map((column) => insertedName(column.name))]),
  );
}

function failureData({ outcome }: SqlAnswer): Record<string, string> {
  const failure = outcome.kind === "failed"
    ? outcome.failure
    : outcome.kind === "ran"
    ? outcome.ran.failure
    : null;
  const span = failure?.span ?? null;
  return span === null ? {} : { "data-failed-from": String(span.from), "data-failed-to": String(span.to) };
}

/** What a text that was typed puts in the place of the cost, and of the fields where there are others now. */
export function Checked(
  { base, form, prepared, check }: {
    base: string;
    form: SqlForm;
    prepared: PreparedText;
    check: TextCheck;
  },
): Html {
  const names = prepared.placeholders.map(({ statement, place }) => valueNames(statement, place).value);
  const same = names.length === form.valueFields.size && names.every((name) => form.valueFields.has(name));
  return (
    <>
      <Cost check={prepared.statements.length === 0 ? null : check} base={base} />
      {same
        ? null
        : <Values placeholders={prepared.placeholders} count={prepared.statements.length} swapped fresh />}
    </>
  );
}

function Examples({ schema, base, role }: { schema: SchemaFacts; base: string; role: Role }): Html {
  const [table] = schema.tables;
  if (table === undefined && role !== "admin") {
    return <p class="note">There is no table here yet. An admin makes the first one.</p>;
  }
  const texts = table === undefined
    ? [
      "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, made_at TEXT DEFAULT CURRENT_TIMESTAMP)",
    ]
    : [
      `SELECT * FROM ${insertedName(table.name)} LIMIT 20`,
      `SELECT count(*) FROM ${insertedName(table.name)}`,
    ];
  return (
    <section class="examples" aria-label="To begin with">
      <h2>To begin with</h2>
      <ul>
        {texts.map((sql) => (
          <li>
            <a href={`${base}/sql?${new URLSearchParams({ sql })}`}>
              <code>
                <Coloured sql={sql} />
              </code>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
