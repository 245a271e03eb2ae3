// The archive in a bucket that speaks S3. Requests are signed by `aws4fetch`, which sends each once.
import { AwsClient } from "aws4fetch";
import type { ObjectStore } from "../object_store.ts";

/** A bucket, and the keys for it. */
export interface S3Options {
  /** `https://host`, without a path; the bucket is the first part of a path there. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Ends with a slash. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Milliseconds that a request may take, for the largest pieces. */
const TIMEOUT_MS = 60_000;

/** The objects below a prefix of a bucket. */
export class S3Objects implements ObjectStore {
  readonly #client: AwsClient;

  /** `timeoutMs`: see `within`. `told`: the time that the bucket told last, which `within` shares. */
  constructor(
    private readonly options: S3Options,
    private readonly timeoutMs = TIMEOUT_MS,
    private readonly told: { ms: number | null } = { ms: null },
  ) {
    const { accessKeyId, secretAccessKey, region } = options;
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: 0 });
  }

  get toldMs(): number | null {
    return this.told.ms;
  }

  within(timeoutMs: number): S3Objects {
    return new S3Objects(this.options, timeoutMs, this.told);
  }

  async put(key: string, bytes: Uint8Array<ArrayBuffer>, expects?: string | null): Promise<boolean> {
    const only = expects === undefined
      ? {}
      : expects === null
      ? { "if-none-match": "*" }
      : { "if-match": expects };
    const answer = await this.#ask("PUT", this.#urlOf(key), { body: bytes, headers: only });
    await answer.body?.cancel();
    // 409: somebody else is writing it in this moment. 404: it is gone, or, where it was to be new, the bucket is not there.
    const others = expects === undefined ? [] : expects === null ? [409, 412] : [404, 409, 412];
    if (others.includes(answer.status)) return false;
    return isDone(answer);
  }

  async get(key: string): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly tag: string } | null> {
    const answer = await this.#ask("GET", this.#urlOf(key));
    if (answer.status === 404) {
      await answer.body?.cancel();
      return null;
    }
    isDone(answer);
    return { bytes: await answer.bytes(), tag: answer.headers.get("etag") ?? "" };
  }

  async *keys(prefix: string, after = ""): AsyncGenerator<string> {
    for (let token: string | null = ""; token !== null;) {
      const url = new URL(this.#urlOf(""));
      url.pathname = `/${this.options.bucket}`;
      url.searchParams.set("list-type", "2");
      url.searchParams.set("prefix", this.options.prefix + prefix);
      if (after !== "") url.searchParams.set("start-after", this.options.prefix + after);
      if (token !== "") url.searchParams.set("continuation-token", token);
      const answer = await this.#ask("GET", url.href);
      isDone(answer);
      const text = await answer.text();
      // Keys are of our own making: letters, digits and -./_, which need no decoding.
      for (const [, key = ""] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) {
        const own = key.slice(this.options.prefix.length);
        // Some stores know no place to start at.
        if (own > after) yield own;
      }
      token = /<NextContinuationToken>([^<]+)</.exec(text)?.[1] ?? null;
    }
  }

  async remove(key: string): Promise<void> {
    const answer = await this.#ask("DELETE", this.#urlOf(key));
    await answer.body?.cancel();
    if (answer.status !== 404) isDone(answer);
  }

  /** An object of a bucket is there as a whole or not at all. */
  removeUnfinished(): Promise<void> {
    return Promise.resolve();
  }

  #urlOf(key: string): string {
    const { endpoint, bucket, prefix } = this.options;
    return `${endpoint}/${bucket}/${prefix}${key}`;
  }

  async #ask(
    method: string,
    url: string,
    more: { readonly body?: Uint8Array<ArrayBuffer>; readonly headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const answer = await this.#client.fetch(url, {
      method,
      ...more,
      redirect: "error",
      signal: AbortSignal.timeout(this.timeoutMs),
    });
    const toldMs = Date.parse(answer.headers.get("date") ?? "");
    if (!Number.isNaN(toldMs)) this.told.ms = toldMs;
    return answer;
  }
}

/** The status only, also as the name that logs give as the reason: what the store says beside it may repeat a key. */
function isDone({ ok, status, body }: Response): true {
  if (ok) return true;
  void body?.cancel().catch(() => {});
  throw Object.assign(new Error(`the store answered ${status}`), { name: `Status${status}` });
}
