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

/** Returns the values below `admin:`: texts, and lists of texts. Nested mappings are left out. */
export function adminSection(yaml: string): AdminSection {
  const values: Record<string, string | readonly string[]> = {};
  let [inside, indent, last] = [false, 0, ""];
  for (const line of yaml.split(/\r?\n/)) {
    const [, item] = /^\s+-\s+(.*)$/.exec(line) ?? [];
    if (inside && item !== undefined && last !== "") values[last] = [...listOf(values[last]), plainValue(item)];
    const [, spaces = "", key, text = ""] = /^(\s*)([A-Za-z]\w*):(?:\s+(.*))?$/.exec(line) ?? [];
    if (key === undefined) continue;
    last = "";
    if (spaces === "") [inside, indent] = [key === "admin", 0];
    else if (inside) {
      indent ||= spaces.length;
      if (spaces.length !== indent) continue;
      last = key;
      values[key] = flowList(text) ?? plainValue(text);
    }
  }
  return values;
}

const listOf = (value: string | readonly string[] | undefined): readonly string[] => (Array.isArray(value) ? value : []);

/** Returns the texts of a list on one line; undefined for another value. */
function flowList(text: string): readonly string[] | undefined {
  const [, items] = /^\[(.*)\]\s*(?:#.*)?$/.exec(text) ?? [];
  return items?.match(/"[^"]*"|'[^']*'|[^,\s][^,]*/g)?.map((item) => plainValue(item.trim())) ?? (items === undefined ? undefined : []);
}

function plainValue(text: string): string {
  const [, , quoted] = /^(["'])(.*)\1\s*(?:#.*)?$/.exec(text) ?? [];
  return quoted ?? text.replace(/\s+#.*$|^#.*$/, "").trim();
}
