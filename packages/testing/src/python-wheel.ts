import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Writes a wheel of one Python module of that name, version 1.0, which pip installs without a
 * registry. @returns its file
 */
export function writeWheel(folder: string, name: string, source: string): string {
  const content = join(folder, `${name}-wheel`);
  const distInfo = join(content, `${name}-1.0.dist-info`);
  mkdirSync(distInfo, { recursive: true });
  writeFileSync(join(content, `${name}.py`), source);
  writeFileSync(join(distInfo, "METADATA"), `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`);
  writeFileSync(join(distInfo, "WHEEL"), "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
  writeFileSync(join(distInfo, "RECORD"), `${name}.py,,\n`);
  const file = join(folder, `${name}-1.0-py3-none-any.whl`);
  execFileSync("python3", ["-m", "zipfile", "-c", file, `${name}.py`, `${name}-1.0.dist-info`], { cwd: content });
  return file;
}
