import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../repository.js";
import { EXAMPLES } from "../../typescript-runtime/example-runs.js";

/**
 * Copies the TypeScript examples without the map of a launch plan, which Go Flyte 1.16 cannot
 * compile.
 *
 * @returns the folder of the copy, which the caller removes
 */
export function copyExamplesForGo(): string {
  // Beside the examples, whose packages it finds.
  const folder = mkdtempSync(join(root, "examples", ".registrations-"));
  for (const path of ["src", "flyte.config.ts", "package.json"]) cpSync(join(EXAMPLES, path), join(folder, path), { recursive: true });
  const maps = join(folder, "src", "flows", "graphs", "maps.ts");
  const text = readFileSync(maps, "utf8");
  const without = text.replace(/^\/\*\* Maps a launch plan.*?^\);\n/ms, "");
  if (without === text || without.includes("mapsOfPlans")) throw new Error(`${maps} has no workflow mapsOfPlans at its place`);
  writeFileSync(maps, without);
  return folder;
}
