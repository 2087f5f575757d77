import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../repository.js";

/** A block of code of a page. */
export interface CodeBlock {
  readonly language: string;
  /** Name of the file that holds the code; empty for commands. */
  readonly file: string;
  readonly text: string;
}

/** Reads the blocks of code of a page, in order. */
export function codeBlocks(page: string): readonly CodeBlock[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w+)(?: (\S+))?\n([^]*?)^```$/gm)].map(([, language = "", file = "", body = ""]) => ({
    language,
    file,
    text: body,
  }));
}

/** Writes the files of a page into a folder, as its reader does. */
export function writeFiles(blocks: readonly CodeBlock[], folder: string): void {
  for (const { file, text } of blocks) {
    if (file === "") continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

/**
 * The commands of a page that run in the reader's own folder (`bash`) or in the checkout (`sh`), in
 * order.
 */
export function commands(blocks: readonly CodeBlock[], language: "bash" | "sh"): readonly string[] {
  return blocks
    .filter((block) => block.language === language && block.file === "")
    .flatMap(({ text }) => text.split("\n").filter((line) => line !== ""));
}
