// Statement kinds as the grammar names them, the class of each, and the role that each class needs.
import type { Stmt } from "sqlite3-parser";
import type { Role } from "../../core/role.ts";

/** What a statement does to a database. `refused` is available to nobody. */
export type StatementClass = "read" | "write" | "schema" | "refused";

/** The word that log rows, snapshot labels and approval rules use. */
export type StatementVerb =
  | "select"
  | "explain"
  | "pragma"
  | "insert"
  | "update"
  | "delete"
  | "replace"
  | "create"
  | "alter"
  | "drop"
  | "reindex"
  | "analyze"
  | "other";

/** The lowest role that may run statements of a class. */
export const roleOfClass: Readonly<Record<Exclude<StatementClass, "refused">, Role>> = {
  read: "read",
  write: "write",
  schema: "admin",
};

interface KindRow {
  readonly class: StatementClass;
  readonly verb: StatementVerb;
}

/** One row for every statement of the grammar. PRAGMA and EXPLAIN are decided by what they contain. */
export const statementKinds: Readonly<Record<Stmt["type"], KindRow>> = {
  SelectStmt: { class: "read", verb: "select" },
  ExplainStmt: { class: "read", verb: "explain" },
  PragmaStmt: { class: "read", verb: "pragma" },
  InsertStmt: { class: "write", verb: "insert" },
  UpdateStmt: { class: "write", verb: "update" },
  DeleteStmt: { class: "write", verb: "delete" },
  CreateTableStmt: { class: "schema", verb: "create" },
  CreateVirtualTableStmt: { class: "schema", verb: "create" },
  CreateIndexStmt: { class: "schema", verb: "create" },
  CreateViewStmt: { class: "schema", verb: "create" },
  CreateTriggerStmt: { class: "schema", verb: "create" },
  AlterTableStmt: { class: "schema", verb: "alter" },
  DropTableStmt: { class: "schema", verb: "drop" },
  DropIndexStmt: { class: "schema", verb: "drop" },
  DropViewStmt: { class: "schema", verb: "drop" },
  DropTriggerStmt: { class: "schema", verb: "drop" },
  ReindexStmt: { class: "schema", verb: "reindex" },
  AnalyzeStmt: { class: "schema", verb: "analyze" },
  BeginStmt: { class: "refused", verb: "other" },
  CommitStmt: { class: "refused", verb: "other" },
  RollbackStmt: { class: "refused", verb: "other" },
  SavepointStmt: { class: "refused", verb: "other" },
  ReleaseStmt: { class: "refused", verb: "other" },
  AttachStmt: { class: "refused", verb: "other" },
  DetachStmt: { class: "refused", verb: "other" },
  VacuumStmt: { class: "refused", verb: "other" },
};
