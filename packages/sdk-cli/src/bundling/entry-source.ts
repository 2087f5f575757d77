import type { SourceModule } from "../project/source-modules.js";

/** Purpose of a bundle. `local` bundles run workflows in this process and are never registered. */
export type BundlePurpose = "registered" | "local";

/** Writes the module that a bundle begins with. */
export function entrySource(modules: readonly SourceModule[], purpose: BundlePurpose): string {
  const list = modules.map(({ file, module, prefix }) => {
    const names = `module: ${JSON.stringify(module)}, prefix: ${JSON.stringify(prefix)}`;
    return `  { ${names}, load: () => import(${JSON.stringify(file)}) },`;
  });
  const lines = [
    'import { createEntry } from "@flyte-ts/runtime/task";',
    `const modules = [\n${list.join("\n")}\n];`,
    'const entry = createEntry(modules, new URL(".", import.meta.url).href);',
    "export const format = entry.format;",
    "export const run = entry.run;",
    "export const prepare = entry.prepare;",
    "export const collect = entry.collect;",
    'export const describe = () => import("@flyte-ts/runtime/describe");',
    ...(purpose === "local"
      ? ['export const local = () => import("@flyte-ts/sdk/testing");', 'export const runtime = () => import("@flyte-ts/sdk/runtime");']
      : []),
  ];
  return `${lines.join("\n")}\n`;
}
