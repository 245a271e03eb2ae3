// Messages of a socket of libSQL's protocol, as routes have checked them.
import type { AppError } from "../../core/errors.ts";
import type { DoorContext, StreamRequest, WireBatch } from "./hrana_types.ts";

/** The code that ends a socket for what its client does. A private one of RFC 6455, whose own are not for applications. */
export const POLICY = 4008;

/** What a client sends. */
export type ClientMessage =
  | { readonly type: "hello"; readonly jwt?: string | null | undefined }
  | { readonly type: "request"; readonly request_id: number; readonly request: SocketRequest }
  /** A request of which something is not as the protocol has it. */
  | { readonly type: "refused"; readonly request_id: number; readonly error: AppError };

/** Requests of a stream that its socket passes on. */
export type SocketStreamRequest =
  & Extract<StreamRequest, { type: "execute" | "batch" | "sequence" | "describe" | "get_autocommit" }>
  & { readonly stream_id: number };

/** One request. */
export type SocketRequest =
  | { readonly type: "open_stream" | "close_stream"; readonly stream_id: number }
  | SocketStreamRequest
  | Extract<StreamRequest, { type: "store_sql" | "close_sql" }>
  | {
    readonly type: "open_cursor";
    readonly stream_id: number;
    readonly cursor_id: number;
    readonly batch: WireBatch;
  }
  | { readonly type: "fetch_cursor"; readonly cursor_id: number; readonly max_count: number }
  | { readonly type: "close_cursor"; readonly cursor_id: number };

/** What a session needs of its socket. */
export interface SocketParts {
  /** Who calls now, by the token of hello. Asked for every request: a token may be revoked, and a role taken away. */
  readonly enter: (token: string | null) => DoorContext | Promise<DoorContext>;
  readonly send: (text: string) => void;
  /** Null where the client has read enough of its answers for the next request to run; else settles when it has. */
  readonly taken: () => Promise<void> | null;
  /** Whether this socket may hold so many characters more. */
  readonly mayHold: (characters: number) => boolean;
  /** Tells the log of what nobody expects; what the client is told of it. */
  readonly unexpected: (error: unknown) => AppError;
  /** Closes the socket, with a private code of RFC 6455. */
  readonly end: (code: number, reason: string) => void;
}
