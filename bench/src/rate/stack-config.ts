import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Addresses of a local stack, read from the configuration of its services. */
export interface StackConfig {
  readonly databaseUrl: string;
  /** URL with the user of propeller, which may publish events of executions. */
  readonly busUrl: string;
  readonly metricsUrl: string;
}

/** @throws Error that names the missing setting */
export function readStackConfig(data: string): StackConfig {
  return {
    databaseUrl: find(data, { service: "admin", what: "database", pattern: /^\s*url: (postgres:.+)$/m }),
    busUrl: find(data, { service: "propeller", what: "message bus", pattern: /^\s*url: (nats:.+)$/m }),
    metricsUrl: `http://127.0.0.1:${find(data, { service: "admin", what: "port of operations", pattern: OPS_PORT })}/metrics`,
  };
}

const OPS_PORT = /^ops:\n(?: +.*\n)*? +port: (\d+)$/m;

interface Wanted {
  readonly service: "admin" | "propeller";
  readonly what: string;
  readonly pattern: RegExp;
}

function find(data: string, { service, what, pattern }: Wanted): string {
  const file = join(data, "config", `${service}.yaml`);
  const value = pattern.exec(readFileSync(file, "utf8"))?.[1];
  if (value === undefined) throw new Error(`${file} names no ${what}`);
  return value;
}
