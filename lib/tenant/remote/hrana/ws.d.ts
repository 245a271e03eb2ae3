// The part of `ws` that is used here; its own types bring those of Node.js, which are not Deno's.

export interface ClientOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly perMessageDeflate: false;
  /** Bytes of a message. */
  readonly maxPayload: number;
}

export class WebSocket {
  constructor(url: string, protocols: readonly string[], options: ClientOptions);
  on(event: "open" | "close", listener: () => void): this;
  on(event: "error", listener: (error: Error) => void): this;
  on(event: "message", listener: (data: { toString(): string }, isBinary: boolean) => void): this;
  send(text: string): void;
  /** Ends the connection without a farewell. */
  terminate(): void;
}
