import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { DATABASES } from "./config.js";

/** The backup cannot be made or used as requested. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

const schema = z.object({
  format: z.literal(1),
  begunAt: z.string(),
  endedAt: z.string(),
  databases: z.array(z.object({ name: z.enum(DATABASES), file: z.string() })),
  clusters: z.array(z.object({ name: z.string(), file: z.string(), workflows: z.number() })),
});

/** Contents of a backup folder. Written last: a folder without it holds an interrupted backup. */
export type Manifest = z.infer<typeof schema>;

const FILE_NAME = "manifest.json";

export function writeManifest(folder: string, manifest: Manifest): void {
  writeFileSync(join(folder, FILE_NAME), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** @throws BackupError when the folder holds no complete backup. */
export function readManifest(folder: string): Manifest {
  let written: unknown;
  try {
    written = JSON.parse(readFileSync(join(folder, FILE_NAME), "utf8"));
  } catch (cause) {
    throw new BackupError(`${folder} holds no complete backup: ${FILE_NAME}, which is written last, is missing or truncated`, { cause });
  }
  const { data, error } = schema.safeParse(written);
  if (data === undefined) throw new BackupError(`${join(folder, FILE_NAME)}: ${z.prettifyError(error)}`);
  return data;
}
