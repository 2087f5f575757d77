import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

test("imports go in the directions that the architecture allows", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts", "check-imports.mjs")], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
