// The part of `ws` that is used here; its own types bring those of Node.js, which are not Deno's.

/** Frames a message, and reads frames. */
export const Sender: {
  frame(data: Uint8Array, options: {
    readonly fin: boolean;
    readonly opcode: number;
    readonly mask: boolean;
    readonly readOnly: boolean;
    readonly rsv1: boolean;
  }): Uint8Array[];
};

export class Receiver {
  constructor(options: { readonly isServer: boolean });
  on(event: "message", listener: (data: Uint8Array, isBinary: boolean) => void): this;
  on(event: "pong", listener: (data: Uint8Array) => void): this;
  on(event: "error", listener: (error: Error) => void): this;
  write(bytes: Uint8Array): void;
}
