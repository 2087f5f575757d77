import type { ZodType } from "zod";
import { ConfigError, loadConfig } from "./load.js";
import { configText, schemaText } from "./print.js";

/** What of a process reading the configuration takes; `process` is one. */
export interface ConfigProcess {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  exit(status: number): never;
}

const PRINT_SCHEMA = "--print-schema";
const PRINT_CONFIG = "--print-config";

/**
 * The configuration of a service that was started as a program. `--print-schema` prints what may be written, as JSON schema,
 * and `--print-config` what is in force, as YAML and without secrets; both end the process. What is wrong is told on standard
 * error and ends it with status 2.
 *
 * @param service its name; gives the prefix of environment variables
 */
export function serviceConfig<T>(schema: ZodType<T>, service: string, { argv, env, stdout, stderr, exit }: ConfigProcess): T {
  const words = argv.slice(2);
  if (words.includes(PRINT_SCHEMA)) {
    stdout.write(schemaText(schema));
    return exit(0);
  }
  try {
    const config = loadConfig(schema, { service, argv: words.filter((word) => word !== PRINT_CONFIG), env });
    if (!words.includes(PRINT_CONFIG)) return config;
    stdout.write(configText(config));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    stderr.write(`${error.message}\n`);
    return exit(2);
  }
  return exit(0);
}
