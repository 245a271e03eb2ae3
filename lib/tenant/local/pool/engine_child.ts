// The service's side of one engine child process: starts it in its jail, exchanges frames with it, and ends it.
import { setPriority } from "node:os";
import type { Request } from "../child/protocol.ts";
import { endedByWork, FINISH_MS } from "./child_bounds.ts";
import { type ChildPipes, startWithPipes } from "./child_pipes.ts";
import { type EngineProcessOptions, startEngineProcess } from "./engine_process.ts";
import { FrameReader, type ReplyFrame } from "../frames/reply_frames.ts";
import { type ChildReport, type Progress, readProgressFile } from "./progress_files.ts";
import { pause } from "../../../core/pause.ts";

/** How to start a child. */
export interface EngineChildOptions extends EngineProcessOptions {
  /** Whether the child may serve; asked once, when it has loaded its program. */
  readonly mayServe: () => boolean;
  /** Called for every reply of the child. */
  readonly onReply: (frame: ReplyFrame) => void;
  /** Called once, after its last frame. */
  readonly onEnd: () => void;
}

/** What a child has left behind that has ended. */
export interface ChildRemains {
  /** The last statement of the frame that it started; null: none. */
  readonly progress: Progress | null;
  /** As `endedByWork` says, where the service did not end it; also where it could not start. */
  readonly byWork: boolean;
}

/** Bytes of the buffer that is used again for requests of ordinary size. */
const FRAMES_BYTES = 1 << 16;
/** Milliseconds in which a child must report its memory when asked, and milliseconds between two polls for the report. */
const FIRST_REPORT_MS = 20_000;
const REPORT_POLL_MS = 5;
/** Niceness of slow work: a third of the processor time of what is quick, where both want all of it. */
const LOW_PRIORITY = 5;
const nothing = new Uint8Array();

/** One child process. */
export class EngineChild {
  readonly pid: number;
  readonly ended: Promise<void>;
  readonly #process: Deno.ChildProcess;
  readonly #pipes: ChildPipes;
  readonly #encoder = new TextEncoder();
  /** Requests that are sent together when the code that runs now has ended. */
  #frames = nothing;
  #framesLength = 0;
  /** The buffer of ordinary size; empty while it is in use. */
  #spare = new Uint8Array(FRAMES_BYTES);
  /** Requests that wait for the child's greeting; null after it. */
  #unsent: Request[] | null = [];
  #signal: Deno.Signal | null = null;

  constructor(private readonly options: EngineChildOptions) {
    const { process, pipes } = startWithPipes(() => startEngineProcess(options));
    this.#process = process;
    this.#pipes = pipes;
    this.pid = process.pid;
    this.ended = this.#readAll();
  }

  /** Whether the child has loaded its program and may serve. */
  get serves(): boolean {
    return this.#unsent === null;
  }

  /** Sends one request, once the child serves. `onEnd`, not this method, reports a child that has ended. */
  send(request: Request): void {
    if (this.#unsent !== null) {
      this.#unsent.push(request);
      return;
    }
    const json = JSON.stringify(request);
    if (this.#framesLength === 0) {
      queueMicrotask(() => this.#sendFrames());
      this.#frames = this.#spare;
      this.#spare = nothing;
    }
    const start = this.#framesLength + 4;
    let { read, written } = this.#encoder.encodeInto(json, this.#frames.subarray(start));
    if (read < json.length) {
      const longer = new Uint8Array(start + json.length * 3);
      longer.set(this.#frames.subarray(0, this.#framesLength));
      this.#keep(this.#frames);
      this.#frames = longer;
      ({ written } = this.#encoder.encodeInto(json, longer.subarray(start)));
    }
    new DataView(this.#frames.buffer).setUint32(this.#framesLength, written);
    this.#framesLength = start + written;
  }

  #sendFrames(): void {
    if (this.#framesLength === 0) return;
    const frames = this.#frames;
    const bytes = frames.subarray(0, this.#framesLength);
    this.#frames = nothing;
    this.#framesLength = 0;
    const sent = () => this.#keep(frames);
    this.#pipes.write(bytes).then(sent, sent);
  }

  /** Takes a buffer that is free again, unless it was made for longer requests, or for those that came meanwhile. */
  #keep(frames: Uint8Array<ArrayBuffer>): void {
    if (frames.length === FRAMES_BYTES) this.#spare = frames;
  }

  /** Lets the child finish its frame and end by itself; one that does not, as one that stands still, is ended. */
  async finish(): Promise<void> {
    const timer = setTimeout(() => this.kill(), FINISH_MS);
    try {
      this.#sendFrames();
      await this.#pipes.endInput();
      await this.ended;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Kills the child, which is the only way to stop a statement inside the engine. */
  kill(): void {
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // The child has already ended, as wanted.
    }
  }

  /** Lets other processes compute before the child, for good: only the privileged may raise a priority again. */
  lowerPriority(): void {
    try {
      setPriority(this.pid, LOW_PRIORITY);
    } catch {
      // The child has ended, or the permission or the platform does not allow it. The child goes on at its old priority:
      // slots, deadlines and bounds of memory, which guard everybody else, need no priority.
    }
  }

  /** Whether the child reports its memory; false: it has ended, or has not reported in time. */
  async reports(): Promise<boolean> {
    let ended = false;
    void this.ended.finally(() => ended = true);
    for (let waitedMs = 0; !ended && waitedMs < FIRST_REPORT_MS; waitedMs += REPORT_POLL_MS) {
      if ((this.report(0)?.count ?? 0) > 0) return true;
      await pause(REPORT_POLL_MS);
    }
    return false;
  }

  /** The child's report from its progress file; null where the file cannot be read, so that nothing is known. */
  report(frame: number): ChildReport | null {
    return readProgressFile(this.options.progressPath, frame);
  }

  /** What is left of the frame that the child served when it ended. */
  remains(frame: number): ChildRemains {
    const report = this.report(frame);
    return {
      progress: report?.progress ?? null,
      byWork: !this.serves || endedByWork(this.#signal, report?.residentBytes ?? NaN),
    };
  }

  #receive(frame: ReplyFrame): void {
    if (this.#unsent === null) return this.options.onReply(frame);
    if (!this.options.mayServe()) return this.kill();
    const requests = this.#unsent;
    this.#unsent = null;
    for (const request of requests) this.send(request);
  }

  async #readAll(): Promise<void> {
    const frames = new FrameReader();
    try {
      for (let bytes = await this.#pipes.read(); bytes !== null; bytes = await this.#pipes.read()) {
        for (const frame of frames.push(bytes)) this.#receive(frame);
      }
    } finally {
      this.#signal = (await this.#process.status).signal;
      await this.#pipes.close();
      this.options.onEnd();
    }
  }
}
