// What the parts of the archive's page are told.
import type { Role } from "../../../../lib/core/role.ts";
import type { ArchiveView } from "../../../../lib/services/snapshots/archived_moment.ts";
import type { WriteView } from "../../../../lib/services/snapshots/list_writes.ts";
import type { Visit } from "../../../http/visit.ts";
import type { Returned } from "../../frame/returned.ts";

/** What the page tells. */
export interface ArchiveProps {
  readonly visit: Visit;
  /** Where the pages of the database stand. */
  readonly base: string;
  /** The reader's role at the database. */
  readonly role: Role;
  readonly archive: ArchiveView;
  readonly nowMs: number;
  /** How long moments stay, and snapshots. */
  readonly days: { readonly archive: number; readonly snapshots: number };
  /** Which store the databases live in. */
  readonly stores: "file" | "sqld" | "turso";
  readonly writes: readonly WriteView[];
  /** Where the writes go on. */
  readonly older: string | null;
  /** What of the writes the address asks for. */
  readonly asked: { readonly until: string | null; readonly isPage: boolean };
  /** Id of a token or a member → its name. */
  readonly names: ReadonlyMap<string, string>;
  readonly returned: Returned<"moment"> | null;
}
