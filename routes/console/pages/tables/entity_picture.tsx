// The picture of a database's tables and what refers to what, drawn on the server: no script, and colours by the theme.
import type {
  Arrangement,
  PlacedReference,
  PlacedTable,
} from "../../../../lib/services/schema/arrange_tables.ts";
import type { Html } from "../../parts/html.ts";
import { tablePath } from "../../parts/table_path.ts";
import { visibleText } from "../../parts/visible_text.ts";

/** Pixels of a letter of a box, and of what stands beside the letters. */
const LETTER = 7.4;
const BESIDE = 20;

/** Each box leads to the rows of its table. The list of tables beside it says the same in words. */
export function EntityPicture({ arrangement, base }: { arrangement: Arrangement; base: string }): Html {
  const { width, height, tables, references } = arrangement;
  return (
    <div class="scroll entities" tabindex={0} role="region" aria-label="Picture of the tables">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="group"
        aria-label="Tables and references"
      >
        {references.map((one) => <Reference reference={one} />)}
        {tables.map((one) => <Box table={one} base={base} />)}
      </svg>
    </div>
  );
}

function Reference({ reference: { from, to, points } }: { reference: PlacedReference }): Html | null {
  const [first, ...rest] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return null;
  // Rounded at each point: a curve from the middle of one stretch to the middle of the next.
  const middles = rest.slice(0, -1).map((point, at) => {
    const next = rest[at + 1] ?? point;
    return `Q ${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  });
  return (
    <g class="reference">
      <title>{`${visibleText(from)} refers to ${visibleText(to)}`}</title>
      <path d={`M ${first.x} ${first.y} ${middles.join(" ")} L ${last.x} ${last.y}`} />
      <circle cx={last.x} cy={last.y} r={3} />
    </g>
  );
}

function Box({ table, base }: { table: PlacedTable; base: string }): Html {
  const { name, columns, further, x, y, width, height } = table;
  const lines = further > 0 ? [...columns, null] : columns;
  return (
    <a href={tablePath(base, name)} class="entity">
      <rect x={x} y={y} width={width} height={height} rx={8} />
      <line x1={x} y1={y + 26} x2={x + width} y2={y + 26} />
      <text class="name" x={x + 10} y={y + 18}>{cut(name, width)}</text>
      {lines.map((column, at) => (
        <text class={column?.pk ? "pk" : undefined} x={x + 10} y={y + 42 + at * 18}>
          {column === null ? `${further} more` : cut(column.name, width - 2 * LETTER)}
          {column?.refers ? " →" : ""}
        </text>
      ))}
    </a>
  );
}

function cut(name: string, width: number): string {
  const text = visibleText(name);
  const most = Math.floor((width - BESIDE) / LETTER);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
