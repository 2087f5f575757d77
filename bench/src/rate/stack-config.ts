import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What the configuration of admin in a local stack's folder says of where it is. */
export interface StackConfig {
  readonly databaseUrl: string;
  readonly busUrl: string;
  readonly metricsUrl: string;
}

/** @throws Error naming what the folder's configuration does not tell. */
export function readStackConfig(data: string): StackConfig {
  const file = join(data, "config", "admin.yaml");
  const text = readFileSync(file, "utf8");
  const find = (what: string, pattern: RegExp): string => {
    const value = pattern.exec(text)?.[1];
    if (value === undefined) throw new Error(`${file} names no ${what}`);
    return value;
  };
  return {
    databaseUrl: find("database", /^\s*url: (postgres:.+)$/m),
    busUrl: find("message bus", /^\s*url: (nats:.+)$/m),
    metricsUrl: `http://127.0.0.1:${find("port of operations", /^ops:\n(?: +.*\n)*? +port: (\d+)$/m)}/metrics`,
  };
}
