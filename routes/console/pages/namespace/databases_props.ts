// What the page of the databases is told.
import type { DatabaseView } from "../../../../lib/services/databases/database_record.ts";
import type { Glance } from "../../../../lib/services/money/glance_at.ts";
import type { UsageFigures } from "../../../../lib/services/money/manage_money.ts";
import type { Visit } from "../../../http/visit.ts";
import type { SearchedPage } from "../../frame/searched_page.ts";
import type { Returned } from "../../frame/returned.ts";

/** What the page tells. */
export interface DatabasesFacts {
  readonly list: SearchedPage<DatabaseView>;
  readonly today: ReadonlyMap<string, UsageFigures>;
  readonly rail: Glance;
  /** Slug of what was just deleted, or brought back. */
  readonly deleted: string | null;
  /** The operator has just made the namespace. */
  readonly made: boolean;
  readonly back: string | null;
}

/** The page with who sees it. */
export interface DatabasesProps extends DatabasesFacts {
  readonly visit: Visit;
  readonly namespace: string;
  readonly baseUrl: string;
  readonly returned: Returned<"create" | "bring-back"> | null;
}
