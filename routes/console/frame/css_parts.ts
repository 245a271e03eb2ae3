// The style sheet's parts in their order, each a file that the formatter keeps readable. Layers decide what wins, so the
// order matters within a layer only.
import approval from "../css/approval.css" with { type: "text" };
import base from "../css/base.css" with { type: "text" };
import charts from "../css/charts.css" with { type: "text" };
import controls from "../css/controls.css" with { type: "text" };
import editor from "../css/editor.css" with { type: "text" };
import endpoint from "../css/endpoint.css" with { type: "text" };
import grid from "../css/grid.css" with { type: "text" };
import layout from "../css/layout.css" with { type: "text" };
import narrow from "../css/narrow.css" with { type: "text" };
import overview from "../css/overview.css" with { type: "text" };
import parts from "../css/parts.css" with { type: "text" };
import print from "../css/print.css" with { type: "text" };
import rail from "../css/rail.css" with { type: "text" };
import sql from "../css/sql.css" with { type: "text" };
import tables from "../css/tables.css" with { type: "text" };
import tokens from "../css/tokens.css" with { type: "text" };
import words from "../css/words.css" with { type: "text" };

/** The text of `console.css`: the parts without comments and indentation. */
export const consoleCss: string = [
  ...[tokens, base, rail, layout],
  ...[parts, words, controls, grid, narrow, charts, sql, approval, editor, tables, overview, endpoint, print],
].join("\n").replace(/\/\*[^]*?\*\//g, "").replace(/\n\s*/g, "\n");
