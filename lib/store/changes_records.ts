// Records about those who follow changes.

/** What a ticket opens: the changes of one database, with the rights of the token that got it. */
export interface ChangeTicketRecord {
  readonly namespaceId: string;
  readonly tokenId: string;
  /** `<slug>` or `<slug>@<ref>`. */
  readonly databasePath: string;
  /** When it expires. KV may delete it later. */
  readonly untilMs: number;
}
