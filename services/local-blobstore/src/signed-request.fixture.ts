import { createHash } from "node:crypto";
import { request } from "node:http";
import { canonicalRequest, hmacHex, type Scope, signingKey, stringToSign } from "./auth/signature.js";

/** A test request, signed in its headers. */
export interface TestRequest {
  readonly method: string;
  /** Decoded, with the leading slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Default: the hash of the body. */
  readonly payloadHash?: string;
  readonly at?: Date;
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
}

/** Returns valid headers for the request, and the data for signing chunks of its body. */
export function sign(
  request: TestRequest,
  host: string,
): { headers: Record<string, string>; key: Buffer; scope: Scope; time: string; signature: string } {
  const time = (request.at ?? new Date()).toISOString().replace(/[-:]|\.\d+/g, "");
  const scope = { day: time.slice(0, 8), region: "us-east-1", service: "s3" };
  const payloadHash =
    request.payloadHash ??
    createHash("sha256")
      .update(request.body ?? "")
      .digest("hex");
  const headers: Record<string, string> = { ...request.headers, host, "x-amz-date": time, "x-amz-content-sha256": payloadHash };
  const signedHeaders = Object.keys(headers).toSorted();
  const query = Object.entries(request.query ?? {});
  const canonical = canonicalRequest({ ...request, query, headers: new Map(Object.entries(headers)), signedHeaders, payloadHash });
  const key = signingKey(request.secretAccessKey ?? "miniostorage", scope);
  const signature = hmacHex(key, stringToSign(time, scope, canonical));
  const credential = `${request.accessKeyId ?? "minio"}/${scope.day}/us-east-1/s3/aws4_request`;
  headers["authorization"] = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signedHeaders.join(";")}, Signature=${signature}`;
  return { headers, key, scope, time, signature };
}

/** Sends the request to a server on this machine. */
export async function send(port: number, of: TestRequest): Promise<Response> {
  const { headers } = sign(of, `127.0.0.1:${port}`);
  return sendRaw(port, { method: of.method, path: target(of), headers, body: of.body });
}

export interface RawRequest {
  readonly method: string;
  /** Raw path as sent. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

/** Avoids fetch, which normalizes paths. */
export function sendRaw(port: number, { method, path, headers, body }: RawRequest): Promise<Response> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(body.length) };
    const message = request({ host: "127.0.0.1", port, method, path, headers: { ...headers, ...length } }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => pieces.push(piece));
      answer.on("error", reject);
      answer.on("end", () => {
        const bodiless = method === "HEAD" || [204, 304].includes(answer.statusCode ?? 0);
        const init = { status: answer.statusCode ?? 0, headers: answer.headers as Record<string, string> };
        resolve(new Response(bodiless ? null : Buffer.concat(pieces), init));
      });
    });
    message.on("error", reject);
    message.end(body);
  });
}

function target({ path, query = {} }: TestRequest): string {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  const search = Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join("&");
  return `${path.split("/").map(encode).join("/")}${search === "" ? "" : `?${search}`}`;
}
