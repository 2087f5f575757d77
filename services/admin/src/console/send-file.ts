import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
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
  const handle = await openUnchanged(stored);
  if (handle === undefined) {
    sendText(response, 404, given);
    return;
  }
  try {
    response.writeHead(200, {
      ...common,
      "Content-Type": contentType,
      "Content-Length": stored.bytes,
      ...(form !== undefined && encoding !== undefined && { "Content-Encoding": encoding }),
    });
    if (request.method === "HEAD") response.end();
    else await pipeline(handle.createReadStream({ autoClose: false }), response);
  } catch (error) {
    // The client has disconnected, or the file ended early: the answer is incomplete.
    response.destroy(error instanceof Error ? error : undefined);
  } finally {
    await handle.close();
  }
}

const TEXTS = { 404: "not found\n", 405: "only GET and HEAD are supported\n" } as const;

/** Sends a refusal, which caches must not keep. */
export function sendText(response: ServerResponse, status: keyof typeof TEXTS, given: Headers): void {
  const type = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
  response.writeHead(status, { ...given, ...type, ...(status === 405 && { Allow: "GET, HEAD" }) }).end(TEXTS[status]);
}

/**
 * Opens a file unless it was removed, replaced or changed since the folder was listed: its tag and
 * its compressed forms would not match.
 */
async function openUnchanged({ path, bytes, modifiedMs }: StoredFile): Promise<FileHandle | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  if (handle === undefined) return undefined;
  const status = await handle.stat();
  if (status.isFile() && status.size === bytes && status.mtimeMs === modifiedMs) return handle;
  await handle.close();
  return undefined;
}
