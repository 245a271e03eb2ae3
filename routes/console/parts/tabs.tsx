// The pages of a database.
import { Count } from "./count.tsx";
import type { Html } from "./html.ts";

/** Address and name of each, in their order. */
const pages = [
  ["", "Overview"],
  ["/sql", "SQL"],
  ["/tables", "Tables"],
  ["/branches", "Branches"],
  ["/snapshots", "Snapshots"],
  ["/archive", "Archive"],
  ["/data", "Data"],
  ["/endpoints", "Endpoints"],
  ["/rules", "Rules"],
  ["/webhooks", "Webhooks"],
  ["/log", "Log"],
] as const;

/** The name of a page. */
export type TabName = (typeof pages)[number][1];

/** What the tabs belong to. */
export interface TabsProps {
  readonly namespace: string;
  /** As in the address: `shop` or `shop@pr-42`. */
  readonly database: string;
  readonly active: TabName;
  /** Whether who looks may see what is for admins. */
  readonly manages: boolean;
  /** Beside a name: how many there are. */
  readonly counts?: Readonly<Partial<Record<TabName, number>>>;
}

/** Links to each page; the one that is shown is marked. */
export function Tabs({ namespace, database, active, manages, counts = {} }: TabsProps): Html {
  const base = `/console/${namespace}/db/${database}`;
  return (
    <nav class="tabs" aria-label="Database">
      {pages.filter(([, name]) => manages || name !== "Webhooks").map(([path, name]) => (
        <a href={base + path} aria-current={name === active ? "page" : undefined}>
          {name}
          <Count value={counts[name] ?? 0} meaning={name.toLowerCase()} />
        </a>
      ))}
    </nav>
  );
}
