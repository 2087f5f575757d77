// Generates packages/idl/src/gen from idl/**.proto.
//
//   node scripts/generate.mjs           writes the generated files
//   node scripts/generate.mjs --check   fails and names each generated file that is not current
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { differences, parseCheckFlag } from "./drift.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const idl = join(root, "idl");
const committed = join(root, "packages/idl/src/gen");

const isCheck = parseCheckFlag("generate");

if (isCheck) {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-gen-"));
  try {
    generate(folder);
    const drift = differences(folder, committed);
    if (drift.length > 0) {
      console.error(`generate: ${drift.length} generated files do not match idl/; run npm run generate\n${drift.join("\n")}`);
      process.exitCode = 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
} else {
  generate(committed);
}

/** Runs buf with idl/buf.gen.yaml and `out` as the output folder. */
function generate(out) {
  const buf = join(root, "node_modules/.bin/buf");
  if (!existsSync(buf)) {
    console.error("generate: buf is not installed; run npm ci first");
    process.exit(1);
  }
  const template = readFileSync(join(idl, "buf.gen.yaml"), "utf8").replace(/^(\s*out:).*$/m, (_, key) => `${key} ${JSON.stringify(out)}`);
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-buf-"));
  try {
    const config = join(folder, "buf.gen.yaml");
    writeFileSync(config, template);
    const { status, error } = spawnSync(buf, ["generate", "--template", config], { cwd: idl, stdio: "inherit" });
    if (error) throw error;
    if (status !== 0) process.exit(status ?? 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
