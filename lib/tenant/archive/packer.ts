// The process that does the archive's work on files. It starts with the first job and ends when there was none for a while.
import { MINUTE_MS } from "../../core/clock.ts";
import { type ParentTie, startJailed } from "../jail/start_jailed.ts";
import { readLines } from "../jail/read_lines.ts";
import type { CutAnswer, CutJob } from "./cut_job.ts";

/** Megabytes of the process's heap, and KiB of its data. */
const HEAP_MB = 128;
const DATA_KIB = 1024 * 1024;
/** Milliseconds without a job after which it ends, and that a job may take: the file of a large database is read whole. */
const IDLE_MS = 20_000;
const JOB_MS = 60 * MINUTE_MS;

/** What this needs. */
export interface PackerOptions {
  /** The only folders that the process may touch. */
  readonly paths: readonly string[];
  readonly parentTie: ParentTie;
  readonly environment: Readonly<Record<string, string>>;
}

interface Running {
  readonly process: Deno.ChildProcess;
  readonly writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly lines: AsyncGenerator<string>;
}

/** Gives jobs to the process, one after the other. */
export class Packer {
  #running: Running | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #closed = false;
  #idle: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly options: PackerOptions) {}

  /** Does a job. Rejects where the process ends: then nobody knows what was noted. */
  run(job: CutJob): Promise<CutAnswer> {
    this.#waiting++;
    if (this.#idle !== null) clearTimeout(this.#idle);
    const done = this.#last.then(() => this.#ask(job)).finally(() => this.#settled());
    this.#last = done.catch(() => {});
    return done;
  }

  /** Ends the process. Its jobs reject: what they had not noted is read again. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#running) kill(this.#running);
    await this.#last;
    if (this.#idle !== null) clearTimeout(this.#idle);
    await this.#end();
  }

  async #ask(job: CutJob): Promise<CutAnswer> {
    if (this.#closed) throw new Error("the packer is closed");
    const running = this.#running ??= this.#start();
    const timer = setTimeout(() => kill(running), JOB_MS);
    try {
      await running.writer.write(new TextEncoder().encode(`${JSON.stringify(job)}\n`));
      const { value, done } = await running.lines.next();
      if (done) throw new Error("the packer has ended");
      return parseAnswer(value);
    } catch (error) {
      await this.#end();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #start(): Running {
    const process = startJailed({
      ...this.options,
      program: new URL("./packer/main.ts", import.meta.url).href,
      args: [],
      heapMb: HEAP_MB,
      dataKib: DATA_KIB,
    });
    return { process, writer: process.stdin.getWriter(), lines: readLines(process.stdout) };
  }

  #settled(): void {
    if (--this.#waiting === 0) this.#idle = setTimeout(() => void this.#end(), IDLE_MS);
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    if (!running) return;
    await running.writer.close().catch(() => {});
    await running.lines.return(undefined).catch(() => {});
    await running.process.status;
  }
}

function kill({ process }: Running): void {
  try {
    process.kill("SIGKILL");
  } catch (error) {
    // It has ended already.
    if (!(error instanceof TypeError)) throw error;
  }
}

/** Guarantee: our own program wrote the line. */
function parseAnswer(line: string): CutAnswer {
  return JSON.parse(line);
}
