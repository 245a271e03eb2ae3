// An app with a database whose changes are followed, by polls and by streams.
import { assert, assertEquals } from "@std/assert";
import { startApp, type StartAppOptions, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

export interface SeenChange {
  readonly id: string;
  readonly at: string;
  readonly tables: readonly string[];
  readonly kinds: readonly string[];
  readonly rows: number;
}

export interface Polled {
  readonly data: readonly SeenChange[];
  readonly cursor: string;
}

export interface ChangesWorld extends AsyncDisposable {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  poll(search?: string, more?: { readonly path?: string; readonly token?: string }): Promise<Polled>;
  /** A stream; `token` is the admin's unless given. */
  open(search?: string, more?: OpenOptions): Promise<OpenStream>;
}

export interface OpenOptions {
  readonly token?: string;
  readonly lastEventId?: string;
  /** Another address than that of the database's stream. */
  readonly url?: string;
}

/** One event, as its lines. */
export interface SeenEvent {
  readonly id: string;
  readonly event: string;
  readonly change: SeenChange;
}

export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  /** The next events, at least so many; fewer where the stream ends. */
  events(count: number): Promise<SeenEvent[]>;
  /** The id with which the stream begins; empty where it has none. */
  firstId(): Promise<string>;
  /** Reads until the server ends the stream. */
  ended(): Promise<void>;
  close(): Promise<void>;
}

export async function changesWorld(options: StartAppOptions = {}): Promise<ChangesWorld> {
  const app = await startApp(options);
  const tenant = await app.namespace();
  const { path } = tenant.database;
  const poll: ChangesWorld["poll"] = async (search = "", more = {}) => {
    const token = more.token ?? tenant.token;
    const answer = await app.request("GET", `${more.path ?? path}/changes${search}`, { token });
    assertEquals(answer.status, 200, answer.text);
    const { data, meta } = JSON.parse(answer.text);
    return { data, cursor: meta.cursor };
  };
  const open: ChangesWorld["open"] = async (search = "", { token = tenant.token, lastEventId, url } = {}) => {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (url === undefined) headers["authorization"] = `Bearer ${token}`;
    if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
    const answer = await app.app.request(url ?? `${path}/changes${search}`, { headers });
    return openStream(answer);
  };
  return {
    ...{ app, tenant, poll, open },
    [Symbol.asyncDispose]: async () => {
      app.deps.changes.stop();
      await app.stop();
    },
  };
}

/** What a change is apart from its place and time. */
export function kernel({ tables, kinds, rows }: SeenChange): [string, string, number] {
  return [tables.join(), kinds.join(), rows];
}

export function openStream(answer: Response): OpenStream {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert(reader);
  let text = "";
  const parsed: SeenEvent[] = [];
  /** False at the end. */
  const more = async () => {
    const { done, value } = await reader.read();
    text += value ?? "";
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const event = eventOf(text.slice(0, end));
      if (event !== null) parsed.push(event);
      text = text.slice(end + 2);
    }
    return !done;
  };
  return {
    status: answer.status,
    headers: answer.headers,
    events: async (count) => {
      while (parsed.length < count && await more());
      return parsed.splice(0);
    },
    firstId: async () => {
      const { value = "" } = await reader.read();
      return /^retry: \d+\nid: (.+)\n\n$/.exec(value)?.[1] ?? "";
    },
    ended: async () => {
      while (await more());
    },
    close: () => reader.cancel(),
  };
}

function eventOf(block: string): SeenEvent | null {
  const fields = new Map(
    block.split("\n").map((line) => [line.split(": ", 1)[0], line.slice(line.indexOf(": ") + 2)]),
  );
  const data = fields.get("data");
  if (data === undefined) return null;
  return { id: fields.get("id") ?? "", event: fields.get("event") ?? "", change: JSON.parse(data) };
}
