import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { mapConcurrent } from "@flyte-ts/async";
import { CopilotFailure } from "../failure.js";
import type { Blobs } from "../store/patient-store.js";

const FILES_AT_ONCE = 4;

/** Downloads a file of the blob store, or of the web, to `path`. @throws CopilotFailure when it does not exist. */
export async function placeFile(blobs: Blobs, uri: string, path: string): Promise<void> {
  if (/^https?:/.test(uri)) return placeFromWeb(uri, path);
  if (!(await blobs.getFile(uri, path))) throw new CopilotFailure("USER", `there is nothing at ${uri}`);
}

/** Downloads everything below the URI, including folders, into the folder `path`. */
export async function placeFolder(blobs: Blobs, uri: string, path: string): Promise<void> {
  if (/^https?:/.test(uri)) throw new CopilotFailure("USER", `${uri}: a folder cannot be read from the web`);
  const prefix = `${uri.replace(/\/+$/, "")}/`;
  const found = await blobs.listAll(prefix);
  await mkdir(path, { recursive: true });
  const files = found
    .map((entry) => ({ uri: entry.uri, steps: entry.uri.slice(prefix.length).split("/") }))
    // Some tools mark folders by blobs whose names end in a slash.
    .filter(({ steps }) => steps.at(-1) !== "");
  await mapConcurrent(files, FILES_AT_ONCE, async (file) => {
    if (file.steps.includes("..")) throw new CopilotFailure("USER", `${file.uri}: the name leads out of the folder`);
    const place = join(path, ...file.steps);
    await mkdir(dirname(place), { recursive: true });
    await placeFile(blobs, file.uri, place);
  });
}

async function placeFromWeb(uri: string, path: string): Promise<void> {
  const response = await fetch(uri).catch((cause: unknown) => {
    throw new CopilotFailure("SYSTEM", `${uri} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  if (!response.ok || response.body === null) {
    throw new CopilotFailure(response.status >= 500 ? "SYSTEM" : "USER", `${uri} answers ${response.status} ${response.statusText}`);
  }
  await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(path));
}
