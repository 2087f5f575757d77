import { randomBytes } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";

/** A request body that expands to far more bytes than it has, and its declared compression. */
export interface Bomb {
  readonly body: Buffer;
  /** Name of the compression in gRPC. */
  readonly encoding?: "gzip" | "deflate";
}

const MIB = 1 << 20;

/** A length-delimited field (wire type 2). */
export function field(number: number, value: Uint8Array): Buffer {
  return Buffer.concat([varint((number << 3) | 2), varint(value.length), value]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}

/**
 * Nests fields with these numbers, used in rotation. A decoder recurses wherever the message type
 * has a message in such a field.
 */
export function nested(levels: number, numbers: readonly number[] = [1]): Buffer {
  const parts: Buffer[] = [];
  let length = 0;
  for (let level = 0; level < levels; level++) {
    const head = Buffer.concat([varint(((numbers[level % numbers.length] as number) << 3) | 2), varint(length)]);
    parts.push(head);
    length += head.length;
  }
  return Buffer.concat(parts.toReversed());
}

const pairs = (bytes: number, first: number, second: number) => Buffer.alloc(bytes, Buffer.from([first, second]));

/** Encoded messages that cost far more to decode than to send; every method must refuse them. */
export const MESSAGE_BOMBS: Readonly<Record<string, Bomb>> = {
  "64 MiB of empty messages, packed": { body: gzipSync(pairs(64 * MIB, 0x0a, 0)), encoding: "gzip" },
  "64 MiB of unknown fields, packed": { body: gzipSync(pairs(64 * MIB, 0x78, 1)), encoding: "gzip" },
  "64 MiB of zeros, deflated": { body: deflateSync(Buffer.alloc(64 * MIB)), encoding: "deflate" },
  "gzip within gzip": { body: gzipSync(gzipSync(Buffer.alloc(64 * MIB))), encoding: "gzip" },
  "gzip with a wrong trailer": { body: lyingTrailer(64 * MIB), encoding: "gzip" },
  "truncated gzip": { body: gzipSync(randomBytes(60_000)).subarray(0, 50_000), encoding: "gzip" },
  "many concatenated gzip members": { body: Buffer.concat(Array<Buffer>(2_000).fill(gzipSync(Buffer.alloc(32_768)))), encoding: "gzip" },
  "60,000 bytes of unknown fields": { body: pairs(60_000, 0x7a, 0) },
  "messages 20,000 levels deep": { body: nested(20_000) },
  "messages 15,000 levels deep, in turns": { body: nested(15_000, [1, 2, 3]) },
  "groups 30,000 levels deep": { body: Buffer.alloc(30_000, 0x0b) },
  "a length varint without end": { body: Buffer.concat([Buffer.from([0x0a]), Buffer.alloc(60_000, 0xff)]) },
  "a length beyond the message": { body: Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x07, 0]) },
};

/** Field 1, empty, repeated for nine megabytes. */
const EMPTY_MESSAGES = pairs(9_000_000, 0x0a, 0);

/** Stored messages for any type whose field 1 is a message; each must be refused. */
export const STORED_BOMBS: Readonly<Record<string, Buffer>> = {
  "9 MB of empty messages": EMPTY_MESSAGES,
  "9 MB of unknown fields": pairs(9_000_000, 0x78, 1),
  "9 MB of empty messages behind a group": Buffer.concat([Buffer.from([0x7b, 0x7c]), EMPTY_MESSAGES]),
  "9 MB of empty messages behind a field of another type": Buffer.concat([Buffer.from([0x08, 0x00]), EMPTY_MESSAGES]),
  "messages 30,000 levels deep": nested(30_000),
  "messages 15,000 levels deep, in turns": nested(15_000, [1, 2, 3]),
  "64 MiB of zeros, packed": gzipSync(Buffer.alloc(64 * MIB)),
  "a varint without end": Buffer.alloc(100_000, 0xff),
  "a length beyond the message": Buffer.concat([Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x07]), Buffer.alloc(100_000)]),
};

function lyingTrailer(bytes: number): Buffer {
  const packed = gzipSync(Buffer.alloc(bytes));
  packed.writeUInt32LE(1_000, packed.length - 4);
  return packed;
}

/** JSON that costs far more to parse than to send. */
export const JSON_BOMBS: Readonly<Record<string, string>> = {
  "brackets without end": "[".repeat(60_000),
  "objects without end": '{"a":'.repeat(12_000),
  "objects 10,000 levels deep": `${'{"id":'.repeat(10_000)}{}${"}".repeat(10_000)}`,
  "a number of 60,000 digits": `{"limit":${"9".repeat(60_000)}}`,
  "an exponent of 60,000 digits": `{"limit":1e${"9".repeat(60_000)}}`,
  "60,000 digits in a text": `{"limit":"${"1".repeat(60_000)}x"}`,
  "5,000 keys": `{${Array.from({ length: 5_000 }, (_, i) => `"k${i}":{}`).join()}}`,
  "one key 5,000 times": `{${Array<string>(5_000).fill('"id":{}').join()}}`,
  "30,000 numbers": `[${Array<string>(30_000).fill("0").join()}]`,
  "quotes that are never closed": `{"${'\\"'.repeat(30_000)}`,
  blanks: " ".repeat(60_000),
  "half surrogates": `{"id":"${"\\ud800".repeat(10_000)}"}`,
};

/** Queries and forms that fit into a URL. */
export const QUERY_BOMBS: Readonly<Record<string, string>> = {
  "brackets that are never closed": `${"[".repeat(25_000)}=1`,
  "an entry within entries": `${"a[".repeat(12_000)}]=1`,
  "digits that are not a number": `limit=${"1".repeat(25_000)}x`,
  "ambiguous units": `expires_in=${"ms".repeat(2_000)}x&limit=x`,
  "a path of 12,000 names": `${"id.".repeat(8_000)}name=1&limit=x`,
  "6,000 parameters": `${Array.from({ length: 4_000 }, (_, i) => `p${i}`).join("&")}&limit=x`,
  "one parameter 12,000 times": Array<string>(3_500).fill("limit=1").join("&"),
  "escapes of escapes": `${"%25".repeat(8_000)}=%zz`,
  "a filter of 8,000 terms": `filters=${"eq(a,b)%2B".repeat(2_400)}x`,
  "a filter of brackets": `filters=${"(".repeat(20_000)},)`,
  "a token of digits": `token=${"9".repeat(20_000)}&limit=x`,
};

/** Headers within the size limit that could cost more to read than to send. */
export const HEADER_BOMBS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "3,000 cookies": { cookie: "a=b; ".repeat(3_000) },
  "a token of dots": { authorization: `Bearer ${".".repeat(14_000)}` },
  "a token whose algorithm is long": {
    authorization: `Bearer ${Buffer.from(`{"alg":"${"R".repeat(9_000)}"}`).toString("base64url")}.e30.AA`,
  },
  "a token whose header is nested": { authorization: `Bearer ${Buffer.from("[".repeat(9_000)).toString("base64url")}.e30.AA` },
  "a token that asks for deflate": {
    authorization: `Bearer ${Buffer.from('{"alg":"dir","enc":"A256GCM","zip":"DEF"}').toString("base64url")}..AA.${deflateSync(
      Buffer.alloc(8 * MIB),
    )
      .toString("base64url")
      .slice(0, 10_000)}.AA`,
  },
  "a token that lists critical headers": {
    authorization: `Bearer ${Buffer.from(JSON.stringify({ alg: "RS256", crit: Array<string>(1_500).fill("b64") })).toString("base64url")}.e30.AA`,
  },
  "types without end": { accept: "application/json;as=Table,".repeat(500) },
  "repeated media types": { accept: "application/json;".repeat(800) },
  "a chain of proxies": { "x-forwarded-for": "127.0.0.1, ".repeat(1_200), forwarded: "for=x;".repeat(100) },
  "an encoding list": { "accept-encoding": "gzip;q=0.1, ".repeat(1_000), "content-encoding": "gzip, ".repeat(200) },
  "ranges without end": { range: `bytes=${"0-1,".repeat(3_000)}` },
  "a trace context without end": { traceparent: `00-${"a".repeat(8_000)}-b-01`, tracestate: "a=b,".repeat(1_500) },
  "a time limit of digits": { "grpc-timeout": "9".repeat(12_000) },
  "a condition of quotes": { "if-none-match": '"a", '.repeat(2_500), "if-modified-since": "(".repeat(1_000) },
};

const lines = (count: number, line: (index: number) => string) => Array.from({ length: count }, (_, index) => line(index));

/** YAML documents of some hundred kilobytes. */
export const YAML_BOMBS: Readonly<Record<string, string>> = {
  tags: `a: ${"!a ".repeat(200_000)}`,
  anchors: `a: ${"&a ".repeat(200_000)}`,
  "60,000 keys": lines(60_000, (i) => `k${i}: 1`).join("\n"),
  "60,000 keys in braces": `{${lines(60_000, (i) => `k${i}: 1`).join()}}`,
  "closing braces": "}".repeat(600_000),
  "opening brackets": "[".repeat(600_000),
  commas: `[${",".repeat(300_000)}`,
  colons: ": ".repeat(300_000),
  dashes: "- ".repeat(300_000),
  "question marks": "? ".repeat(300_000),
  documents: "--- a\n".repeat(100_000),
  "YAML aliases that multiply": [
    "a0: &a0 x",
    ...lines(12, (i) => `a${i + 1}: &a${i + 1} [${Array<string>(10).fill(`*a${i}`).join()}]`),
  ].join("\n"),
};

/** JSON of up to three megabytes, for callers that may write objects. */
export const OBJECT_BOMBS: Readonly<Record<string, string>> = {
  brackets: "[".repeat(3_000_000),
  "a million numbers": `[${"0,".repeat(1_000_000)}0]`,
  "a million objects": `{"data":[${"{},".repeat(900_000)}{}]}`,
  "50,000 invalid labels": `{"metadata":{"name":"x","labels":{${lines(50_000, (i) => `"?${i}":"?"`).join()}}}}`,
  "a name of three megabytes": `{"metadata":{"name":"${"a-".repeat(1_490_000)}"}}`,
};

/** Patches by type. */
export const PATCH_BOMBS: Readonly<Record<string, readonly [type: string, body: string]>> = {
  "copies that double": [
    "json-patch",
    JSON.stringify(lines(40, (i) => i.toString()).map((i) => ({ op: "copy", from: "", path: `/a${i}` }))),
  ],
  "50,000 operations": ["json-patch", JSON.stringify(lines(50_000, () => "").map(() => ({ op: "add", path: "/a", value: 1 })))],
  "a path of a million steps": ["json-patch", JSON.stringify([{ op: "add", path: "/a".repeat(1_000_000), value: 1 }])],
  "a merge 20,000 levels deep": ["merge-patch", `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`],
  "a strategic merge 20,000 levels deep": ["strategic-merge-patch", `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`],
};

/** XML of at most four megabytes. */
export const XML_BOMBS: Readonly<Record<string, string>> = {
  elements: `<a>${"<b/>".repeat(900_000)}</a>`,
  "elements in elements": "<a>".repeat(1_000_000),
  "a comment without end": `<a><!--${"-".repeat(3_900_000)}`,
  "CDATA without end": `<a><![CDATA[${"]".repeat(3_900_000)}`,
  attributes: `<a ${'b="" '.repeat(10_000)}`,
  "entities that multiply": `<!DOCTYPE a [<!ENTITY a "x">${lines(20, (i) => `<!ENTITY b${i} "&a;&a;">`).join("")}]><a>&b19;</a>`,
  "blanks in a name": `<a${" ".repeat(3_900_000)}b`,
  ampersands: `<a>${"&a".repeat(500_000)}`,
};
