import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { AdminSection, Environment } from "./settings.js";

/** Reads flytectl's FLYTECTL_CONFIG or ~/.flyte/config.yaml; empty without a file. */
export async function readFlytectlFile(environment: Environment): Promise<AdminSection> {
  const named = environment["FLYTECTL_CONFIG"];
  const file = named || join(homedir(), ".flyte", "config.yaml");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" && !named) return "";
    throw error;
  });
  return adminSection(text);
}

/** Returns the plain values below `admin:`. Lists and nested mappings are left out. */
export function adminSection(yaml: string): AdminSection {
  const values: Record<string, string> = {};
  let [inside, indent] = [false, 0];
  for (const line of yaml.split(/\r?\n/)) {
    const [, spaces = "", key, text = ""] = /^(\s*)([A-Za-z]\w*):(?:\s+(.*))?$/.exec(line) ?? [];
    if (key === undefined) continue;
    if (spaces === "") [inside, indent] = [key === "admin", 0];
    else if (inside) {
      indent ||= spaces.length;
      if (spaces.length === indent) values[key] = plainValue(text);
    }
  }
  return values;
}

function plainValue(text: string): string {
  const [, , quoted] = /^(["'])(.*)\1\s*(?:#.*)?$/.exec(text) ?? [];
  return quoted ?? text.replace(/\s+#.*$|^#.*$/, "").trim();
}
