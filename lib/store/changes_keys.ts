// The keys of those who follow changes: a part of `keys.ts`.
import type { ChangeTicketRecord } from "./changes_records.ts";
import type { Key } from "./key.ts";

/** See `keys`. */
export const changesKeys = {
  /** Until it opens a stream of changes or has expired. The hash is SHA-256, hex. */
  changeTicket: (hash: string): Key<ChangeTicketRecord> => ["change_ticket", hash],
} as const;
