import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheDir } from "@flyte-ts/host";
import { findGoProgram } from "../program/go-program.js";
import { type Containerd, PAUSE_IMAGE } from "./containerd.js";
import { fullName, type ImageSpec, writeOciArchive } from "./oci-archive.js";

type OnProgress = (what: string) => void;

/** Builds the pause image from this package's own program. */
export async function buildPauseImage(onProgress: OnProgress): Promise<ImageSpec> {
  const program = await findGoProgram(
    { name: "flyte-ts-pause", version: "1", module: "pause", mainPackage: ".", overrideVariable: "FLYTE_TS_PAUSE" },
    { onProgress },
  );
  const folder = join(cacheDir(), "one-node", "pause");
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "pause"))) cpSync(program, join(folder, "pause"));
  return { names: [PAUSE_IMAGE], root: folder, entrypoint: ["/pause"] };
}

/**
 * Imports missing images into containerd. An image changed since is imported again: the
 * modification time of its root folder and its settings identify it.
 */
export async function importImages(containerd: Containerd, images: readonly ImageSpec[], onProgress: OnProgress): Promise<void> {
  const listed = await containerd.ctr("images", "list");
  for (const image of images) {
    const version = `flyte-ts/root=${versionOf(image)}`;
    const isImported = (name: string) => listed.split("\n").some((line) => line.startsWith(`${fullName(name)} `) && line.includes(version));
    if (image.names.every(isImported)) continue;
    onProgress(`image ${image.names[0]}`);
    const file = join(tmpdir(), `flyte-ts-image-${process.pid}.tar`);
    try {
      await writeOciArchive(file, image);
      await containerd.ctr("images", "import", file);
      // The import has unpacked the layers: the archives of layers would only take space.
      await containerd.ctr("content", "prune", "references");
      for (const name of image.names) await containerd.ctr("images", "label", fullName(name), version);
    } finally {
      rmSync(file, { force: true });
    }
  }
}

function versionOf({ root, ...settings }: ImageSpec): string {
  const digest = createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 16);
  return `${Math.floor(statSync(root).mtimeMs)}-${digest}`;
}
