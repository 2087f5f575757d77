import { mapConcurrent } from "@flyte-ts/async";
import { parameter, type S3Request } from "../http/request.js";
import { S3Error } from "../http/s3-error.js";
import type { XmlElement } from "../http/xml.js";
import { openObject } from "../store/object-file.js";
import type { Listed } from "../store/walk.js";
import { type Context, quoted, sendXml } from "./context.js";
import { numberParameter } from "./write-object.js";

const MAX_KEYS = 1000;
/** Files read at once for a page. */
const AT_ONCE = 16;

/** Where a page begins. */
interface Start {
  readonly after: string;
  /** A common prefix that the page before ended with. */
  readonly skip: string;
}

interface Page {
  readonly keys: readonly XmlElement[];
  readonly prefixes: readonly XmlElement[];
  readonly count: number;
  /** What the page ended with, when more follows. */
  readonly last: Listed | undefined;
}

/** ListObjectsV2. */
export async function listObjectsV2(context: Context): Promise<void> {
  const { request } = context;
  const token = parameter(request, "continuation-token");
  const startAfter = parameter(request, "start-after") ?? "";
  const start = token === undefined ? { after: startAfter, skip: "" } : parseToken(token);
  const page = await listPage(context, start);
  const encode = encoder(request);
  sendXml(context, [
    "ListBucketResult",
    [
      ...common(request, page),
      ["KeyCount", page.count],
      ...(startAfter === "" ? [] : ([["StartAfter", encode(startAfter)]] as const)),
      ...(token === undefined ? [] : ([["ContinuationToken", token]] as const)),
      ...(page.last === undefined ? [] : ([["NextContinuationToken", formatToken(page.last)]] as const)),
      ...page.keys,
      ...page.prefixes,
    ],
  ]);
}

/** ListObjects, the first version. */
export async function listObjectsV1(context: Context): Promise<void> {
  const { request } = context;
  const marker = parameter(request, "marker") ?? "";
  const delimiter = parameter(request, "delimiter") ?? "";
  const skip = delimiter !== "" && marker.endsWith(delimiter) ? marker : "";
  const page = await listPage(context, { after: marker, skip });
  const encode = encoder(request);
  const next =
    page.last === undefined ? [] : ([["NextMarker", encode(page.last.kind === "key" ? page.last.key : page.last.prefix)]] as const);
  sendXml(context, ["ListBucketResult", [...common(request, page), ["Marker", encode(marker)], ...next, ...page.keys, ...page.prefixes]]);
}

function common(request: S3Request, page: Page): XmlElement[] {
  const encode = encoder(request);
  const delimiter = parameter(request, "delimiter") ?? "";
  return [
    ["Name", request.bucket],
    ["Prefix", encode(parameter(request, "prefix") ?? "")],
    ...(delimiter === "" ? [] : ([["Delimiter", encode(delimiter)]] as const)),
    ["MaxKeys", maxKeys(request)],
    ...(parameter(request, "encoding-type") === undefined ? [] : ([["EncodingType", "url"]] as const)),
    ["IsTruncated", page.last !== undefined],
  ];
}

async function listPage({ request, store }: Context, { after, skip }: Start): Promise<Page> {
  const limit = maxKeys(request);
  const items: Listed[] = [];
  let more = false;
  if (limit > 0) {
    const options = { prefix: parameter(request, "prefix") ?? "", delimiter: parameter(request, "delimiter") ?? "", after, skip };
    for await (const item of store.list(request.bucket, options)) {
      more = items.length === limit;
      if (more) break;
      items.push(item);
    }
  } else store.requireBucket(request.bucket);
  const encode = encoder(request);
  const keys = await keyElements(
    items.filter((item) => item.kind === "key"),
    encode,
  );
  const prefixes = items
    .filter((item) => item.kind === "prefix")
    .map((item): XmlElement => ["CommonPrefixes", [["Prefix", encode(item.prefix)]]]);
  return { keys, prefixes, count: keys.length + prefixes.length, last: more ? items.at(-1) : undefined };
}

async function keyElements(items: readonly Extract<Listed, { kind: "key" }>[], encode: (text: string) => string): Promise<XmlElement[]> {
  const elements = await mapConcurrent(items, AT_ONCE, async ({ key, path }): Promise<XmlElement | undefined> => {
    await using object = await openObject(path).catch(unlessDamaged);
    if (object === undefined) return undefined;
    return [
      "Contents",
      [
        ["Key", encode(key)],
        ["LastModified", object.modifiedAt.toISOString()],
        ["ETag", quoted(object.info.etag)],
        ["Size", object.size],
        ["StorageClass", "STANDARD"],
      ],
    ];
  });
  // An object may have been deleted since its name was read.
  return elements.filter((element) => element !== undefined);
}

/** One damaged file must not hide all others; reading it tells of the damage. */
function unlessDamaged(error: unknown): undefined {
  if (!(error instanceof S3Error)) throw error;
}

function maxKeys(request: S3Request): number {
  return Math.min(MAX_KEYS, numberParameter(request, "max-keys", { min: 0, max: 2 ** 31 - 1, otherwise: MAX_KEYS }));
}

/** Keys may hold what XML cannot; then clients ask for them percent-encoded. */
function encoder(request: S3Request): (text: string) => string {
  if (parameter(request, "encoding-type") === undefined) return (text) => text;
  if (parameter(request, "encoding-type") !== "url") throw new S3Error("InvalidArgument", "encoding-type must be url");
  return (text) => text.split("/").map(encodeURIComponent).join("/");
}

function formatToken(last: Listed): string {
  const text = last.kind === "key" ? `k${last.key}` : `p${last.prefix}`;
  return Buffer.from(text).toString("base64url");
}

function parseToken(token: string): Start {
  const text = Buffer.from(token, "base64url").toString();
  const rest = text.slice(1);
  if (text.startsWith("k")) return { after: rest, skip: "" };
  if (text.startsWith("p")) return { after: rest, skip: rest };
  throw new S3Error("InvalidArgument", "the continuation token is none that this server gave");
}
