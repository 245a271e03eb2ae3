// The service's ends of an engine child's two pipes. Two streams of the runtime between them and a frame would cost a tenth
// of the service's processor time for a point read, so the pipes are read and written by the runtime's own functions
// under those streams. They are not public: where they are missing the streams are used.
import { runtimeFunctions } from "../../../core/runtime_functions.ts";

/** The two ends. */
export interface ChildPipes {
  /** Writes the bytes behind those of earlier calls. They must not change until it settles. Rejects once the child has ended. */
  write(bytes: Uint8Array): Promise<unknown>;
  /** What has come, in memory that the next call uses again; null at the end. */
  read(): Promise<Uint8Array | null>;
  /** Ends the child's input behind what was written. Never rejects. */
  endInput(): Promise<void>;
  /** Gives both ends back, at once. Never rejects. */
  close(): Promise<void>;
}

/** A child process with both of its pipes. */
export type PipedProcess = Pick<Deno.ChildProcess, "stdin" | "stdout">;

/** The functions of the runtime, as of 2.9. A resource is an open pipe, file or socket, known by its number. */
export interface PipeFunctions {
  /** Names of all resources by their numbers. */
  resources(): Readonly<Record<string, string>>;
  /** The number of bytes read; 0 at the end. */
  read(resource: number, into: Uint8Array): Promise<number>;
  writeAll(resource: number, bytes: Uint8Array): Promise<void>;
}

/** Bytes read at a time. */
const READ_BYTES = 1 << 16;

/** Starts a process by `start`, which must not wait for anything, and takes its pipes. */
export function startWithPipes<Process extends PipedProcess>(
  start: () => Process,
  functions: PipeFunctions | null = findPipeFunctions(),
): { process: Process; pipes: ChildPipes } {
  const before = functions?.resources() ?? {};
  const process = start();
  const made = Object.entries(functions?.resources() ?? {}).filter(([number]) => !(number in before));
  const numberOf = (wanted: string) => made.find(([, name]) => name === wanted)?.[0];
  const [input, output] = [numberOf("childStdin"), numberOf("childStdout")];
  const isDirect = functions !== null && input !== undefined && output !== undefined;
  const pipes = isDirect
    ? new DirectPipes(process, functions, { input: Number(input), output: Number(output) })
    : new StreamPipes(process);
  return { process, pipes };
}

/** Null where the runtime has no such functions. */
export function findPipeFunctions(runtime: object = Deno): PipeFunctions | null {
  return pipeFunctions(runtimeFunctions(["resources", "read", "writeAll"], runtime));
}

/** Guarantee: an object with functions of these names, which tests/tenant/child_pipes_test.ts holds to the rest. */
function pipeFunctions(functions: object | null): PipeFunctions | null {
  return functions as PipeFunctions | null;
}

class DirectPipes implements ChildPipes {
  readonly #buffer = new Uint8Array(READ_BYTES);
  /** The last write under way: another one begins behind it, because a long one is written in parts. */
  #writing: Promise<unknown> | null = null;

  constructor(
    private readonly process: PipedProcess,
    private readonly functions: PipeFunctions,
    private readonly resources: { readonly input: number; readonly output: number },
  ) {}

  write(bytes: Uint8Array): Promise<unknown> {
    const begin = () => this.functions.writeAll(this.resources.input, bytes);
    const writing = this.#writing === null ? begin() : this.#writing.then(begin, begin);
    const written = () => {
      if (this.#writing === writing) this.#writing = null;
    };
    this.#writing = writing;
    writing.then(written, written);
    return writing;
  }

  async read(): Promise<Uint8Array | null> {
    const count = await this.functions.read(this.resources.output, this.#buffer);
    return count === 0 ? null : this.#buffer.subarray(0, count);
  }

  async endInput(): Promise<void> {
    await this.#writing?.catch(ignore);
    await this.process.stdin.close().catch(ignore);
  }

  async close(): Promise<void> {
    await Promise.all([this.process.stdin.abort().catch(ignore), this.process.stdout.cancel().catch(ignore)]);
  }
}

class StreamPipes implements ChildPipes {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamBYOBReader;
  #buffer = new Uint8Array(READ_BYTES);

  constructor({ stdin, stdout }: PipedProcess) {
    this.#writer = stdin.getWriter();
    // With an own buffer, because the stream's default reader allocates and clears 64 KiB for each chunk.
    this.#reader = stdout.getReader({ mode: "byob" });
  }

  write(bytes: Uint8Array): Promise<unknown> {
    return this.#writer.write(bytes);
  }

  async read(): Promise<Uint8Array | null> {
    const { value, done } = await this.#reader.read(this.#buffer);
    if (done) return null;
    this.#buffer = new Uint8Array(value.buffer);
    return value;
  }

  async endInput(): Promise<void> {
    await this.#writer.close().catch(ignore);
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer.abort().catch(ignore), this.#reader.cancel().catch(ignore)]);
  }
}

/** The child has ended, or the end was closed before. */
function ignore(): void {}
