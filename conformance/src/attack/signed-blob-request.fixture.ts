import { createHash, createHmac } from "node:crypto";

/** Request to the local blob store before it is signed. */
export interface BlobRequest {
  readonly method: string;
  /** Decoded path with the leading slash. */
  readonly path: string;
  /** Query without `?`: names sorted, each with `=`, percent-encoded. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Default: the hash of the body. */
  readonly payloadHash?: string;
}

export interface BlobKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const sha256 = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex");

/** Computes the headers that sign a request (AWS Signature Version 4). */
export function signedBlobHeaders(request: BlobRequest, host: string, { accessKeyId, secretAccessKey }: BlobKey): Record<string, string> {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const payloadHash = request.payloadHash ?? sha256(request.body ?? "");
  const headers: Record<string, string> = { ...request.headers, host, "x-amz-date": time, "x-amz-content-sha256": payloadHash };
  const names = Object.keys(headers).toSorted();
  const lines = names.map((name) => `${name}:${headers[name]?.trim().replace(/\s+/g, " ") ?? ""}\n`).join("");
  const canonical = [request.method, request.path, request.query ?? "", lines, names.join(";"), payloadHash].join("\n");
  const scope = `${day}/us-east-1/s3/aws4_request`;
  const step = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const key = [day, "us-east-1", "s3", "aws4_request"].reduce<string | Buffer>(step, `AWS4${secretAccessKey}`);
  const signature = step(key, ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n")).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return { ...headers, authorization };
}
