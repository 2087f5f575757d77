import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { expect, test } from "vitest";
import { LIBRARIES } from "./libraries.js";

const root = join(import.meta.dirname, "../../..");
const manifest = z.object({
  license: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  devDependencies: z.record(z.string(), z.string()).optional(),
});
const read = (file: string) => manifest.parse(JSON.parse(readFileSync(file, "utf8")));

/** Reads the manifest of an installed package, here or in a folder above. */
function installed(name: string): z.infer<typeof manifest> {
  for (let folder = root; ; folder = dirname(folder)) {
    const file = join(folder, "node_modules", name, "package.json");
    if (existsSync(file)) return read(file);
    if (folder === dirname(folder)) throw new Error(`${name} is not installed`);
  }
}

test("the list names each library and font of the console with its licence", () => {
  const { dependencies = {}, devDependencies = {} } = read(join(root, "package.json"));
  const names = [...Object.keys(dependencies), ...Object.keys(devDependencies).filter((name) => name.startsWith("@fontsource"))];
  const external = names.filter((name) => !name.startsWith("@flyte-ts/")).toSorted();
  expect(LIBRARIES).toEqual(external.map((name) => ({ name, licence: installed(name).license })));
});
