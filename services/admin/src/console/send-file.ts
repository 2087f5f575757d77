import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { chooseEncoding, isNotModified } from "@flyte-ts/rpc";
import type { ConsoleFile, StoredFile } from "./read-folder.js";

type Headers = Readonly<Record<string, string>>;

/**
 * Sends a file to GET and its headers to HEAD, compressed where the client accepts a form that the
 * folder has. Answers 304 to a client that has it.
 */
export async function sendFile(file: ConsoleFile, request: IncomingMessage, response: ServerResponse, given: Headers): Promise<void> {
  const { compressed, contentType, entityTag } = file;
  const hasForms = Object.keys(compressed).length > 0;
  const common = { ...given, ETag: entityTag, ...(hasForms && { Vary: "Accept-Encoding" }) };
  if (isNotModified(request, entityTag)) {
    response.writeHead(304, common).end();
    return;
  }
  const encoding = chooseEncoding(request.headers["accept-encoding"], (each) => compressed[each] !== undefined);
  const form = encoding === undefined ? undefined : compressed[encoding];
  const stored = form ?? file;
  const content = await contentOf(stored);
  if (content === undefined) return sendText(response, 404, given);
  response.writeHead(200, {
    ...common,
    "Content-Type": contentType,
    "Content-Length": stored.bytes,
    ...(form !== undefined && encoding !== undefined && { "Content-Encoding": encoding }),
  });
  if (request.method === "HEAD") response.end();
  else response.end(content);
}

/** Contents that have been sent: all forms of the console's files have about 2 MB together. */
const contents = new WeakMap<StoredFile, Buffer>();
/** Maximum of a file that is kept, bytes. */
const MAX_KEPT_BYTES = 1024 * 1024;

/**
 * Returns the content of a file; undefined if it was removed, replaced or changed since the folder
 * was listed: its tag and its compressed forms would not match.
 */
async function contentOf(stored: StoredFile): Promise<Buffer | undefined> {
  const known = contents.get(stored);
  if (known !== undefined) return known;
  const content = await readUnchanged(stored);
  if (content !== undefined && content.length <= MAX_KEPT_BYTES) contents.set(stored, content);
  return content;
}

const TEXTS = { 404: "not found\n", 405: "only GET and HEAD are supported\n" } as const;

/** Sends a refusal, which caches must not keep. */
export function sendText(response: ServerResponse, status: keyof typeof TEXTS, given: Headers): void {
  const type = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
  response.writeHead(status, { ...given, ...type, ...(status === 405 && { Allow: "GET, HEAD" }) }).end(TEXTS[status]);
}

async function readUnchanged({ path, bytes, modifiedMs }: StoredFile): Promise<Buffer | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const status = await handle.stat();
    if (!status.isFile() || status.size !== bytes || status.mtimeMs !== modifiedMs) return undefined;
    const content = await handle.readFile();
    return content.length === bytes ? content : undefined;
  } finally {
    await handle.close();
  }
}
