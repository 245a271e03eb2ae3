// What a socket sends, and how it ends. A client that asks without reading would have its answers kept in memory: the next
// request waits until enough is read, and only so long.
import { endSocket } from "../../lib/guard/end_socket.ts";
import { POLICY } from "../../lib/services/hrana/socket_types.ts";
import { CLOSE_MS, MAX_UNREAD_BEFORE_NEXT, READ_MS } from "../../lib/core/limits_hrana.ts";
import { pause } from "../../lib/core/pause.ts";

/** The runtime tells nobody when a client has read, so it is asked. In milliseconds. */
const ASK_AGAIN_MS = 20;
/** Bytes that may be unread before it is asked at all: asking for each message would be a twentieth of a point read. */
const UNASKED_BYTES = 8 * 1024;
/** No character of a text takes more bytes in UTF-8. */
const MAX_CHARACTER_BYTES = 3;

/** The sending half of a socket. */
export class SocketOutput {
  #isEnding = false;
  #leftUnread = 0;
  /** What was unread when the runtime was last asked, and all that was sent since. */
  #mostUnread = 0;

  /** `mayHold`: whether so many characters more may wait to be read. */
  constructor(
    private readonly socket: WebSocket,
    private readonly mayHold: (characters: number) => boolean,
    private readonly times = { readMs: READ_MS, closeMs: CLOSE_MS },
  ) {}

  /** Whether anything is still taken and sent. */
  get isOpen(): boolean {
    return !this.#isEnding && this.#isConnected;
  }

  /**
   * Bytes that the client has not read, also when the socket has been told to close. Below `UNASKED_BYTES` it may have read
   * more than that says.
   */
  get unread(): number {
    if (this.#mostUnread <= UNASKED_BYTES && this.#isConnected) return this.#mostUnread;
    return this.#mostUnread = this.#exactlyUnread;
  }

  send(text: string): void {
    if (!this.isOpen) return;
    if (!this.mayHold(text.length)) return void this.end(POLICY, "Read the answers");
    this.socket.send(text);
    this.#mostUnread += text.length * MAX_CHARACTER_BYTES;
  }

  /** Null where the client has read enough; else settles when it has, or is ended because it does not. */
  taken(): Promise<void> | null {
    return this.unread <= MAX_UNREAD_BEFORE_NEXT ? null : this.#awaitTaken();
  }

  /**
   * Closes behind what was sent, or, where the client does not read that, without. `closeMs`: how long the client may take for
   * each of reading and closing.
   */
  async end(code: number, reason: string, closeMs = this.times.closeMs): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING) return this.#giveUp(code, reason);
    if (!this.isOpen) return;
    this.#isEnding = true;
    const isRead = () => this.#exactlyUnread === 0;
    if (!isRead()) await this.#until(isRead, closeMs);
    if (!this.#isConnected) return;
    this.#leftUnread = this.socket.bufferedAmount;
    this.socket.close(code, reason);
    if (this.#leftUnread > 0) return;
    const timer = setTimeout(() => endSocket(this.socket), closeMs);
    this.socket.addEventListener("close", () => clearTimeout(timer));
  }

  /** Where the client has gone meanwhile a socket never opens, and the runtime (2.9) tells nobody: so it is told here. */
  #giveUp(code: number, reason: string): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.socket.addEventListener("open", () => this.socket.close(code, reason));
    this.socket.dispatchEvent(new Event("error"));
  }

  async #awaitTaken(): Promise<void> {
    const isTaken = await this.#until(() => this.unread <= MAX_UNREAD_BEFORE_NEXT, this.times.readMs);
    if (!isTaken) await this.end(POLICY, "Read the answers");
  }

  /** False where the time is over. A socket that has closed waits for nothing. */
  async #until(isSo: () => boolean, ms: number): Promise<boolean> {
    for (let waitedMs = 0; this.#isConnected && !isSo(); waitedMs += ASK_AGAIN_MS) {
      if (waitedMs >= ms) return false;
      await pause(ASK_AGAIN_MS);
    }
    return true;
  }

  get #exactlyUnread(): number {
    return this.#isConnected ? this.socket.bufferedAmount : this.#leftUnread;
  }

  get #isConnected(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }
}
