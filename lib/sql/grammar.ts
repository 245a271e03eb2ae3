// SQLite's own grammar as the engine is built: numbers may have `_` between their digits (1_000_000), which the parser refuses unless told.
import { withOptions } from "sqlite3-parser";

export const { parseStmt, tokenize } = withOptions({ digitSeparator: "_" });
