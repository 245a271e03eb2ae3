// A change of one row before it is made: the row that is meant, before and after, the statement, and one button.
import type { ProposedRow, RowChange } from "../../../../lib/services/tables/propose_row.ts";
import { shownParameter, type SqlParameter } from "../../../../lib/sql/words/sql_value.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Pairs } from "../../parts/pairs.tsx";
import { DiffGrid, diffRows } from "../../parts/diff_grid.tsx";
import { SqlText } from "../../parts/sql_text.tsx";
import { tablePath } from "../../parts/table_path.ts";
import { Value } from "../../parts/value.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { rowName } from "./row_view.tsx";
import { tableSearch } from "./table_query.ts";
import type { TablePageProps } from "./table_view.tsx";

/** The proposal with the form that it came from. */
export interface RowProposalProps extends TablePageProps {
  readonly change: RowChange;
  readonly proposed: ProposedRow;
  /** The fields of the form, to go back to it. */
  readonly typed: Readonly<Record<string, string>>;
}

const verbs = { update: "Change", delete: "Delete", insert: "Add" } as const;

/** The execution token stands in this form only, and makes this change once. */
export function RowProposal(props: RowProposalProps): Html {
  const { change, proposed, typed, base, table, query, visit } = props;
  const { preview, statement, executionToken } = proposed;
  const cascaded = preview.cascadedRows ?? 0;
  const path = tablePath(base, table.name);
  const verb = verbs[change.kind];
  const hidden = { ...typed, change: change.kind, execution: executionToken, statement: statement.sql };
  return (
    <Card
      id="proposal"
      title={change.kind === "insert"
        ? `Add one row to ${visibleText(table.name)}`
        : `${verb} ${rowName(change.row)}`}
      about="Nothing has changed yet."
      kind="result"
      full
      foot={
        <Form visit={visit} action={`${path}/row${tableSearch(query)}`} hidden={hidden} kind="end">
          <Button
            kind={change.kind === "delete" ? "danger" : "primary"}
            icon={change.kind === "delete" ? "trash" : "check"}
            name="do"
            value="apply"
          >
            {`${verb} this row`}
          </Button>
          {change.kind === "delete" ? null : <Button name="do" value="edit">Type it again</Button>}
          <a href={path + tableSearch(query)}>Leave it as it is</a>
        </Form>
      }
    >
      <p class="note body">
        Exactly one row
        {cascaded > 0 ? `, and ${counted(cascaded, "row")} more by triggers and foreign keys` : ""}
        . If it is another number by then, nothing is changed.
      </p>
      {preview.preview === null ? null : (
        <DiffGrid
          label={`The row of ${visibleText(table.name)}`}
          columns={preview.preview.columns}
          keys={table.columns.filter(({ pk }) => pk > 0).map(({ name }) => name)}
          rows={diffRows(preview.preview)}
          all
        />
      )}
      <SqlText sql={statement.sql} />
      <Pairs
        pairs={statement.params.map((value, at) => ({
          name: `?${at + 1}`,
          kind: kindOf(value),
          value: <Value value={shownParameter(value)} />,
        }))}
      />
    </Card>
  );
}

function kindOf(value: SqlParameter): string {
  if (value === null) return "NULL";
  if (typeof value === "object") {
    return "$blob" in value ? "blob" : "$integer" in value ? "integer" : "number";
  }
  return typeof value === "number" ? (Number.isInteger(value) ? "integer" : "number") : "text";
}
