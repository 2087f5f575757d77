import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

/** Difference of a pixel's colour below which it counts as equal, 0 to 1: other anti-aliasing. */
const THRESHOLD = 0.1;

/** Share of pixels that differ, and the files to look at. */
export interface Comparison {
  /** 1 for pictures of different sizes and without a reference. */
  readonly share: number;
  /** Picture that was taken, and one that marks the differences; empty when they are equal. */
  readonly files: readonly string[];
}

/** Compares a picture with its reference. Writes both and their difference where they differ. */
export function comparePicture(reference: string, taken: Buffer): Comparison {
  const folder = join(tmpdir(), "flyte-ts-screens", dirname(reference).split("/").at(-1) ?? "");
  const name = reference.split("/").at(-1) ?? "";
  const keep = (file: string, bytes: Buffer): string => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, file), bytes);
    return join(folder, file);
  };
  if (!existsSync(reference)) return { share: 1, files: [keep(name, taken)] };
  const [before, after] = [PNG.sync.read(readFileSync(reference)), PNG.sync.read(taken)];
  const { width, height } = before;
  if (width !== after.width || height !== after.height) return { share: 1, files: [keep(name, taken)] };
  const marked = new PNG({ width, height });
  const different = pixelmatch(before.data, after.data, marked.data, width, height, { threshold: THRESHOLD });
  const files = different === 0 ? [] : [keep(name, taken), keep(`difference-${name}`, PNG.sync.write(marked))];
  return { share: different / (width * height), files };
}

/** Replaces a reference. */
export function writeReference(reference: string, taken: Buffer): void {
  mkdirSync(dirname(reference), { recursive: true });
  writeFileSync(reference, PNG.sync.write(PNG.sync.read(taken), { deflateLevel: 9, colorType: 2 }));
}
