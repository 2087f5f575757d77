import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

test("stacks name the source where there is a map, and the code where there is none", () => {
  const folder = mkdtempSync(join(tmpdir(), "map-stacks-"));
  try {
    const thrower = "export const fail = () => {\nthrow new Error('no');\n};\n";
    for (const name of ["mapped.mjs", "plain.mjs"]) writeFileSync(join(folder, name), thrower);
    // The second line is the tenth of the source, whatever the column.
    const map = { version: 3, sources: ["src/thrower.ts"], names: [], mappings: ";AASA" };
    writeFileSync(join(folder, "mapped.mjs.map"), JSON.stringify(map));
    const program = `
      import { mapStacks } from ${JSON.stringify(join(import.meta.dirname, "map-stacks.ts"))};
      mapStacks();
      for (const name of ["mapped.mjs", "plain.mjs"]) {
        const { fail } = await import(${JSON.stringify(`${folder}/`)} + name);
        try { fail() } catch (error) { console.log(error.stack.split("\\n").slice(0, 2).join("\\n")) }
      }`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
    expect(printed.replaceAll(`file://${folder}/`, "")).toBe(
      "Error: no\n    at fail (src/thrower.ts:10:7)\nError: no\n    at fail (plain.mjs:2:7)\n",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
