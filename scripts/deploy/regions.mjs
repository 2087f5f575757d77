// Generated regions of files that are otherwise written by hand.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../prepare.mjs";

const LABEL = "by `npm run generate` from services/**/src/manifest.ts";

/**
 * Replaces the regions of a file. A region is enclosed by the comments `# generated NAME …` and
 * `# end of NAME`.
 *
 * @param file path from the root of the repository
 * @param regions name → lines, each without indentation beyond that of the region
 * @returns {string} the text of the file
 * @throws Error when the file lacks a region
 */
export function withRegions(file, regions) {
  let text = readFileSync(join(root, file), "utf8");
  for (const [name, lines] of Object.entries(regions)) {
    const pattern = new RegExp(`^( *)# generated ${name} .*\\n(?:.*\\n)*?\\1# end of ${name}\\n`, "m");
    const indent = pattern.exec(text)?.[1];
    if (indent === undefined) throw new Error(`${file} has no region "# generated ${name} ${LABEL}" up to "# end of ${name}"`);
    const body = lines.map((line) => (line === "" ? "\n" : `${indent}${line}\n`)).join("");
    text = text.replace(pattern, () => `${indent}# generated ${name} ${LABEL}\n${body}${indent}# end of ${name}\n`);
  }
  return text;
}
