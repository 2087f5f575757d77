import { cpSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheFolder } from "../cache-folder.js";
import { findGoProgram } from "../go-program.js";
import { type Containerd, PAUSE_IMAGE } from "./containerd.js";
import { fullName, type ImageSpec, writeOciArchive } from "./oci-archive.js";

type Tell = (what: string) => void;

/** Builds the pause image from this package's own program. */
export async function pauseImage(onSlow: Tell): Promise<ImageSpec> {
  const program = await findGoProgram(
    { name: "flyte-ts-pause", version: "1", module: "pause", package: ".", variable: "FLYTE_TS_PAUSE" },
    { onBuild: onSlow },
  );
  const folder = join(cacheFolder(), "one-node", "pause");
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "pause"))) cpSync(program, join(folder, "pause"));
  return { names: [PAUSE_IMAGE], root: folder, entrypoint: ["/pause"] };
}

/**
 * Imports missing images into containerd. A root folder changed since is imported again: it is identified by its name
 * and modification time.
 */
export async function importImages(containerd: Containerd, images: readonly ImageSpec[], onSlow: Tell): Promise<void> {
  const there = await containerd.ctr("images", "list");
  for (const image of images) {
    const version = `flyte-ts/root=${Math.floor(statSync(image.root).mtimeMs)}`;
    const has = (name: string) => there.split("\n").some((line) => line.startsWith(`${fullName(name)} `) && line.includes(version));
    if (image.names.every(has)) continue;
    onSlow(`image ${image.names[0]}`);
    const file = join(tmpdir(), `flyte-ts-image-${process.pid}.tar`);
    try {
      await writeOciArchive(file, image);
      await containerd.ctr("images", "import", file);
      for (const name of image.names) await containerd.ctr("images", "label", fullName(name), version);
    } finally {
      rmSync(file, { force: true });
    }
  }
}
