// The head of a database's page: its name and the branch.
import { splitAddress, TRUNK } from "../../../lib/access/resolve_target.ts";
import type { Html } from "./html.ts";
import { Icon } from "./icon.tsx";

/** `database` as in the address: `shop` or `shop@pr-42`. The branch leads to the list of branches. */
export function DbHead({ namespace, database }: { namespace: string; database: string }): Html {
  const { slug, ref } = splitAddress(database);
  return (
    <div class="db-head">
      <h1>{slug}</h1>
      <a
        class="picker"
        href={`/console/${namespace}/db/${slug}/branches`}
        aria-label={`Branch ${ref ?? TRUNK}, choose another`}
      >
        <Icon name="branch" size={14} />
        {ref ?? TRUNK}
        <Icon name="chevron" size={14} />
      </a>
    </div>
  );
}
