import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A Python environment with entry points of the test. */
export interface EntryPoints {
  readonly bin: string;
  /** Directory of installed modules. */
  readonly packages: string;
}

export function makeEntryPoints(folder: string, scripts: Readonly<Record<string, string>>): EntryPoints {
  const environment = join(folder, "venv");
  const { status, stderr } = spawnSync("python3", ["-m", "venv", "--without-pip", environment], { encoding: "utf8" });
  if (status !== 0) throw new Error(`python3 made no environment: ${stderr}`);
  const bin = join(environment, "bin");
  for (const [name, text] of Object.entries(scripts)) {
    writeFileSync(join(bin, name), `#!${bin}/python\n${text}`);
    chmodSync(join(bin, name), 0o755);
  }
  const libraries = join(environment, "lib");
  return { bin, packages: join(libraries, readdirSync(libraries)[0] ?? "", "site-packages") };
}
