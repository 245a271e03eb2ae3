// The layer table: what may import what. README and house rules describe it, this file decides.

/** Lowest row first. A file imports only from lower rows, or from its own place. */
export const layers: readonly (readonly string[])[] = [
  ["lib/core/"],
  ["lib/config.ts", "lib/sql/", "lib/store/"],
  ["lib/engine/"],
  ["lib/control/", "lib/tenant/"],
  ["lib/access/", "lib/guard/"],
  ["lib/query/"],
  ["lib/services/"],
  ["routes/", "lib/cli/"],
  ["main.ts"],
  ["tests/"],
];

/** Folders that may import less than their row allows. */
export const narrowed: Readonly<Record<string, readonly string[]>> = {
  // The child reads hostile statements: it holds nothing of the service but the vocabulary and the grammar.
  "lib/tenant/local/child/": [
    ...["lib/core/", "lib/sql/", "lib/engine/", "lib/tenant/branches/", "lib/tenant/calls/"],
    // What a call means, whichever store runs it.
    ...["call_records", "damage", "log_columns", "stored_answer", "tenant_statement", "tenant_store"]
      .map((name) => `lib/tenant/${name}.ts`),
    // What stands in a database's files, whoever copies them.
    "lib/tenant/folders_beside.ts",
    "lib/tenant/log_length.ts",
    "lib/tenant/wal_frames.ts",
  ],
  // Runs in the child as well.
  "lib/tenant/branches/": [
    ...["lib/core/", "lib/sql/", "lib/engine/", "lib/tenant/branch_store.ts"],
  ],
  // Commands talk to the API; what they share with the service is how names and texts are read. Those of the backup work on
  // files of a service that has ended or is lost.
  "lib/cli/": ["lib/core/", "lib/sql/", "lib/config.ts", "lib/store/", "lib/services/backup/"],
  // Runs in the child as well, and in the service for stores that are elsewhere.
  "lib/engine/": ["lib/core/", "lib/sql/"],
};

/** Folders of a place, lowest first: each imports from those before it, and none from what stands above them. */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  "lib/sql/": ["words/", "tokens/", "grammar/", "hints/", "schema/", "service/"],
  "lib/tenant/local/": [
    ...["child/", "files/", "frames/", "lanes/", "pool/", "lookups/", "log/", "transactions/"],
  ],
  "lib/tenant/remote/": [
    ...["hrana/", "gate/", "server/", "locations/", "connection/", "calls/", "copies/", "transactions/"],
  ],
};

/** What stands at the top of the repository, beside dot-files. */
export const topLevel: readonly string[] = [
  "README.md",
  "deno.json",
  "deno.lock",
  "lib",
  "main.ts",
  "routes",
  "tests",
];

/** Why `importer` may not import `imported` (paths in the repository), or null when it may. */
export function climbs(importer: string, imported: string): string | null {
  // A text imports nothing itself.
  if (imported.endsWith(".md")) return null;
  const from = placeOf(importer);
  const to = placeOf(imported);
  if (from === null) return `${importer} is in no row of the layer table`;
  if (to === null) return `${importer} imports ${imported}, which is in no row of the layer table`;
  for (const [folder, allowed] of Object.entries(narrowed)) {
    if (!importer.startsWith(folder) || imported.startsWith(folder)) continue;
    if (allowed.some((one) => one.endsWith("/") ? imported.startsWith(one) : imported === one)) continue;
    return `${importer} imports ${imported}; ${folder} imports ${allowed.join(", ")} only`;
  }
  for (const [house, order] of Object.entries(rooms)) {
    if (!importer.startsWith(house) || !imported.startsWith(house)) continue;
    const roomOf = (path: string) => order.findIndex((room) => path.startsWith(house + room));
    const [own, other] = [roomOf(importer), roomOf(imported)];
    if (own === -1 || (other !== -1 && other <= own)) continue;
    return `${importer} imports ${imported}, which stands above it: ${house} has ${
      order.join(", ")
    }, lowest first`;
  }
  if (from === to || rowOf(to) < rowOf(from)) return null;
  return `${importer} (${from}, row ${rowOf(from)}) imports ${imported} (${to}, row ${rowOf(to)})`;
}

function rowOf(place: string): number {
  return layers.findIndex((row) => row.includes(place));
}

/** `lib/config_forms.ts` belongs to `lib/config.ts`. */
function placeOf(path: string): string | null {
  for (const place of layers.flat()) {
    if (place.endsWith("/") ? path.startsWith(place) : path === place) return place;
    if (place.endsWith(".ts") && path.startsWith(place.replace(/\.ts$/, "_"))) return place;
  }
  return null;
}
