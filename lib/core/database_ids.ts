// How a database is named inside the service.

/** A database (`db_…`), and the namespace (`ns_…`) that it belongs to. */
export interface DatabaseIds {
  readonly databaseId: string;
  readonly namespaceId: string;
}
