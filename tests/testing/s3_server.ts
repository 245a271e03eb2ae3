// A strict S3 server in memory: it checks every signature (AWS Signature Version 4) by the AWS SDK's own signer and every digest, knows
// conditional writes, and lists two keys at a time.
import { createHash } from "node:crypto";
import { Hash } from "@smithy/hash-node";
import { SignatureV4 } from "@smithy/signature-v4";

/** A running server. */
export interface S3Server {
  readonly endpoint: string;
  /** By `bucket/key`. */
  readonly objects: Map<string, Uint8Array<ArrayBuffer>>;
  /** Requests that were refused. */
  readonly refused: string[];
  /** Which requests are answered 503: those of a server that is away, or goes away between two of them. */
  away: (method: string, key: string) => boolean;
  /** The server's own time, which each answer tells. */
  now: () => number;
  close(): Promise<void>;
}

/** The keys that it knows. */
export const S3_KEYS = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};
const REGION = "eu-central-1";
const PAGE = 2;

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");

/** The signer of the AWS SDK for JavaScript: the store's own requests are signed by another library. */
const signer = new SignatureV4({
  service: "s3",
  region: REGION,
  credentials: S3_KEYS,
  sha256: Hash.bind(null, "sha256"),
  // As for S3: a path is signed as it is sent.
  uriEscapePath: false,
});

/** Starts a server. */
export function startS3(): S3Server {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>();
  const refused: string[] = [];
  const state: Pick<S3Server, "away" | "now"> = { away: () => false, now: () => Date.now() };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const body = await request.bytes();
    if (state.away(request.method, new URL(request.url).pathname.slice(1))) {
      return new Response(null, { status: 503 });
    }
    const wrong = await wrongIn(request, body);
    if (wrong === null) {
      const response = answer(objects, request, body);
      response.headers.set("date", new Date(state.now()).toUTCString());
      return response;
    }
    refused.push(wrong);
    return new Response(wrong, { status: 403 });
  });
  const endpoint = `http://127.0.0.1:${server.addr.port}`;
  return Object.assign(state, { endpoint, objects, refused, close: () => server.shutdown() });
}

/** What is wrong with the signature; null: nothing. */
async function wrongIn(request: Request, body: Uint8Array): Promise<string | null> {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, id, day, region, signed, signature] = form.exec(request.headers.get("authorization") ?? "") ?? [];
  if (id !== S3_KEYS.accessKeyId || region !== REGION || day === undefined || signed === undefined) {
    return "credential";
  }
  const names = signed.split(";");
  if (!names.includes("host") || !names.includes("x-amz-date")) return "signed headers";
  const digest = request.headers.get("x-amz-content-sha256") ?? "";
  if (digest !== "UNSIGNED-PAYLOAD" && digest !== sha256(body)) return "digest";
  return await signatureOf(request, names) === signature ? null : "signature";
}

/** What the SDK signs the same request with. */
async function signatureOf(request: Request, names: readonly string[]): Promise<string> {
  const { protocol, hostname, port, pathname, searchParams } = new URL(request.url);
  const { headers } = await signer.sign({
    method: request.method,
    protocol,
    hostname,
    port: Number(port),
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(names.map((name) => [name, request.headers.get(name) ?? ""])),
  }, {
    signingDate: dateOf(request.headers.get("x-amz-date") ?? ""),
    signableHeaders: new Set(names),
  });
  return /Signature=([0-9a-f]{64})$/.exec(headers["authorization"] ?? "")?.[1] ?? "";
}

/** `20260102T030405Z` as a date. */
function dateOf(text: string): Date {
  return new Date(text.replace(/^(....)(..)(..)T(..)(..)/, "$1-$2-$3T$4:$5:"));
}

function answer(
  objects: Map<string, Uint8Array<ArrayBuffer>>,
  request: Request,
  body: Uint8Array<ArrayBuffer>,
): Response {
  const { pathname, searchParams } = new URL(request.url);
  const key = decodeURIComponent(pathname.slice(1));
  const found = objects.get(key);
  const tag = found && `"${sha256(found)}"`;
  if (searchParams.get("list-type") === "2") return list([...objects.keys()], key, searchParams);
  if (request.method === "PUT") {
    if (request.headers.get("if-none-match") === "*" && found) return new Response(null, { status: 412 });
    const match = request.headers.get("if-match");
    if (match !== null && match !== tag) return new Response(null, { status: found ? 412 : 404 });
    objects.set(key, body);
    return new Response(null, { status: 200, headers: { etag: `"${sha256(body)}"` } });
  }
  if (request.method === "DELETE") {
    objects.delete(key);
    return new Response(null, { status: 204 });
  }
  if (!found || !tag) return new Response("<Error><Code>NoSuchKey</Code></Error>", { status: 404 });
  return new Response(found, { headers: { etag: tag } });
}

function list(all: readonly string[], bucket: string, search: URLSearchParams): Response {
  const prefix = `${bucket}/${search.get("prefix") ?? ""}`;
  const start = search.get("start-after");
  const after = search.get("continuation-token") ?? (start === null ? "" : `${bucket}/${start}`);
  const keys = all.filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, PAGE);
  const next = keys.length > PAGE ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
  const contents = page.map((key) => `<Contents><Key>${key.slice(bucket.length + 1)}</Key></Contents>`).join(
    "",
  );
  return new Response(`<ListBucketResult>${next}${contents}</ListBucketResult>`);
}
