import { createHash, createVerify, type KeyObject } from "node:crypto";

/**
 * True when a URL is signed as Google documents it (V4, GOOG4-RSA-SHA256), for this method and
 * these headers.
 */
export function verifyV4(
  signed: string,
  method: string,
  { key, headers }: { readonly key: KeyObject; readonly headers: Record<string, string> },
): boolean {
  const url = new URL(signed);
  const query = [...url.searchParams].filter(([name]) => name !== "X-Goog-Signature");
  const encoded = query.map(([name, value]) => `${encode(name)}=${encode(value)}`).toSorted();
  const all: Readonly<Record<string, string>> = { host: url.hostname, ...headers };
  const names = (url.searchParams.get("X-Goog-SignedHeaders") ?? "").split(";");
  const lines = names.map((name) => `${name}:${all[name] ?? "missing"}\n`);
  const request = [method, url.pathname, encoded.join("&"), lines.join(""), names.join(";"), "UNSIGNED-PAYLOAD"].join("\n");
  const [, ...scope] = (url.searchParams.get("X-Goog-Credential") ?? "").split("/");
  const digest = createHash("sha256").update(request).digest("hex");
  const text = ["GOOG4-RSA-SHA256", url.searchParams.get("X-Goog-Date"), scope.join("/"), digest].join("\n");
  const signature = Buffer.from(url.searchParams.get("X-Goog-Signature") ?? "", "hex");
  return createVerify("RSA-SHA256").update(text).verify(key, signature);
}

const encode = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
