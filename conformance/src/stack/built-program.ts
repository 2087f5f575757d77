import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the program of a built package. Prefers its bundle when `FLYTE_TS_STACK_BUNDLES` is set,
 * as stacks do: a bundle starts in a third of the time of the modules of `dist/`.
 *
 * @param folder folder of the package
 * @param main path of the program below `bundle/` and `dist/`
 */
export function builtProgram(folder: string, main = "main.js"): string {
  const bundle = join(folder, "bundle", main);
  return process.env["FLYTE_TS_STACK_BUNDLES"] === "true" && existsSync(bundle) ? bundle : join(folder, "dist", main);
}
