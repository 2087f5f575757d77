import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { mapConcurrent } from "@flyte-ts/async";
import { CopilotError } from "../copilot-error.js";
import type { Blobs } from "../store/retrying-store.js";

const FILE_CONCURRENCY = 4;

/**
 * Downloads a file of the blob store, or of the web, to `path`. @throws CopilotError when it does
 * not exist.
 */
export async function downloadFile(blobs: Blobs, uri: string, path: string): Promise<void> {
  if (/^https?:/.test(uri)) return downloadFromWeb(uri, path);
  if (!(await blobs.getFile(uri, path))) throw new CopilotError("USER", `there is no blob at ${uri}`);
}

/** Downloads everything below the URI, including folders, into the folder `path`. */
export async function downloadDir(blobs: Blobs, uri: string, path: string): Promise<void> {
  if (/^https?:/.test(uri)) throw new CopilotError("USER", `${uri}: a folder cannot be read from the web`);
  const prefix = `${uri.replace(/\/+$/, "")}/`;
  const entries = await blobs.listAll(prefix);
  await mkdir(path, { recursive: true });
  const files = entries
    .map((entry) => ({ uri: entry.uri, steps: entry.uri.slice(prefix.length).split("/") }))
    // Some tools mark folders by blobs whose names end in a slash.
    .filter(({ steps }) => steps.at(-1) !== "");
  await mapConcurrent(files, FILE_CONCURRENCY, async (file) => {
    if (file.steps.includes("..")) throw new CopilotError("USER", `${file.uri}: the name points outside the folder`);
    const target = join(path, ...file.steps);
    await mkdir(dirname(target), { recursive: true });
    await downloadFile(blobs, file.uri, target);
  });
}

async function downloadFromWeb(uri: string, path: string): Promise<void> {
  const response = await fetch(uri).catch((cause: unknown) => {
    throw new CopilotError("SYSTEM", `${uri} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  if (!response.ok || response.body === null) {
    throw new CopilotError(response.status >= 500 ? "SYSTEM" : "USER", `${uri} answers ${response.status} ${response.statusText}`);
  }
  await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(path));
}
