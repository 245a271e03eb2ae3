// A strict S3 server in memory: it checks every signature (AWS Signature Version 4, as AWS documents it) and digest, knows
// conditional writes, and lists two keys at a time.
import { createHash, createHmac } from "node:crypto";

/** A running server. */
export interface S3Server {
  readonly endpoint: string;
  /** By `bucket/key`. */
  readonly objects: Map<string, Uint8Array<ArrayBuffer>>;
  /** Requests that were refused. */
  readonly refused: string[];
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
const hmac = (key: string | Uint8Array, text: string) => createHmac("sha256", key).update(text).digest();

/** Starts a server. */
export function startS3(): S3Server {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>();
  const refused: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const body = await request.bytes();
    const wrong = wrongIn(request, body);
    if (wrong === null) return answer(objects, request, body);
    refused.push(wrong);
    return new Response(wrong, { status: 403 });
  });
  const endpoint = `http://127.0.0.1:${server.addr.port}`;
  return { endpoint, objects, refused, close: () => server.shutdown() };
}

/** What is wrong with the signature; null: nothing. */
function wrongIn(request: Request, body: Uint8Array): string | null {
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
  const url = new URL(request.url);
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort().join(
    "&",
  );
  const headers = names.map((name) => `${name}:${(request.headers.get(name) ?? "").trim()}\n`).join("");
  const canonical = [request.method, url.pathname, query, headers, signed, digest].join("\n");
  const date = request.headers.get("x-amz-date") ?? "";
  const text = ["AWS4-HMAC-SHA256", date, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join("\n");
  const key = hmac(hmac(hmac(hmac(`AWS4${S3_KEYS.secretAccessKey}`, day), region), "s3"), "aws4_request");
  return hmac(key, text).toString("hex") === signature ? null : "signature";
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
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
  const after = search.get("continuation-token") ?? "";
  const keys = all.filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, PAGE);
  const next = keys.length > PAGE ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
  const contents = page.map((key) => `<Contents><Key>${key.slice(bucket.length + 1)}</Key></Contents>`).join(
    "",
  );
  return new Response(`<ListBucketResult>${next}${contents}</ListBucketResult>`);
}
