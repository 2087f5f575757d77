import { mapConcurrent } from "@flyte-ts/async";
import { parameter, type S3Request } from "../http/request.js";
import { S3Error } from "../http/s3-error.js";
import type { XmlElement } from "../http/xml.js";
import { openObject } from "../store/object-file.js";
import type { ListEntry } from "../store/list-keys.js";
import { type OperationContext, quoted, sendXml } from "./context.js";
import { numberParameter } from "./write-object.js";

const MAX_KEYS = 1000;
/** Number of files read concurrently for a page. */
const READ_CONCURRENCY = 16;

/** Start position of a page. */
interface PageStart {
  readonly after: string;
  /** Common prefix at the end of the previous page; its keys are skipped. */
  readonly skip: string;
}

interface Page {
  readonly keys: readonly XmlElement[];
  readonly prefixes: readonly XmlElement[];
  readonly count: number;
  /** Last entry of the page; undefined when no more follow. */
  readonly last: ListEntry | undefined;
}

/** ListObjectsV2. */
export async function listObjectsV2(context: OperationContext): Promise<void> {
  const { request } = context;
  const token = parameter(request, "continuation-token");
  const startAfter = parameter(request, "start-after") ?? "";
  const start = token === undefined ? { after: startAfter, skip: "" } : parseToken(token);
  const page = await listPage(context, start);
  const encode = encoder(request);
  sendXml(context, [
    "ListBucketResult",
    [
      ...commonElements(request, page),
      ["KeyCount", page.count],
      ...(startAfter === "" ? [] : ([["StartAfter", encode(startAfter)]] as const)),
      ...(token === undefined ? [] : ([["ContinuationToken", token]] as const)),
      ...(page.last === undefined ? [] : ([["NextContinuationToken", formatToken(page.last)]] as const)),
      ...page.keys,
      ...page.prefixes,
    ],
  ]);
}

/** ListObjects (version 1). */
export async function listObjectsV1(context: OperationContext): Promise<void> {
  const { request } = context;
  const marker = parameter(request, "marker") ?? "";
  const delimiter = parameter(request, "delimiter") ?? "";
  const skip = delimiter !== "" && marker.endsWith(delimiter) ? marker : "";
  const page = await listPage(context, { after: marker, skip });
  const encode = encoder(request);
  const next =
    page.last === undefined ? [] : ([["NextMarker", encode(page.last.kind === "key" ? page.last.key : page.last.prefix)]] as const);
  sendXml(context, [
    "ListBucketResult",
    [...commonElements(request, page), ["Marker", encode(marker)], ...next, ...page.keys, ...page.prefixes],
  ]);
}

function commonElements(request: S3Request, page: Page): XmlElement[] {
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

async function listPage({ request, store }: OperationContext, { after, skip }: PageStart): Promise<Page> {
  const limit = maxKeys(request);
  const items: ListEntry[] = [];
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

async function keyElements(items: readonly Extract<ListEntry, { kind: "key" }>[], encode: (text: string) => string): Promise<XmlElement[]> {
  const elements = await mapConcurrent(items, READ_CONCURRENCY, async ({ key, path }): Promise<XmlElement | undefined> => {
    await using object = await openObject(path).catch(ignoreCorruptObject);
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
  // The object may have been deleted after its name was read.
  return elements.filter((element) => element !== undefined);
}

/** Omits corrupt files from listings; reading one reports the error. */
function ignoreCorruptObject(error: unknown): undefined {
  if (!(error instanceof S3Error)) throw error;
}

function maxKeys(request: S3Request): number {
  return Math.min(MAX_KEYS, numberParameter(request, "max-keys", { min: 0, max: 2 ** 31 - 1, otherwise: MAX_KEYS }));
}

/** Encodes keys on request, since XML cannot represent all of them. */
function encoder(request: S3Request): (text: string) => string {
  if (parameter(request, "encoding-type") === undefined) return (text) => text;
  if (parameter(request, "encoding-type") !== "url") throw new S3Error("InvalidArgument", "encoding-type must be url");
  return (text) => text.split("/").map(encodeURIComponent).join("/");
}

function formatToken(last: ListEntry): string {
  const text = last.kind === "key" ? `k${last.key}` : `p${last.prefix}`;
  return Buffer.from(text).toString("base64url");
}

function parseToken(token: string): PageStart {
  const text = Buffer.from(token, "base64url").toString();
  const rest = text.slice(1);
  if (text.startsWith("k")) return { after: rest, skip: "" };
  if (text.startsWith("p")) return { after: rest, skip: rest };
  throw new S3Error("InvalidArgument", "the continuation token is invalid");
}
