import type { ZodType } from "zod";
import { ConfigError, loadConfig } from "./load-config.js";
import { redactedConfigYaml, configJsonSchema } from "./print-config.js";

/** The parts of `process` that configuration loading uses. */
export interface ProcessLike {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  exit(status: number): never;
}

const PRINT_SCHEMA = "--print-schema";
const PRINT_CONFIG = "--print-config";

/**
 * Loads the configuration of a service started as a program. `--print-schema` prints its JSON
 * schema, and `--print-config` the effective configuration as YAML without secrets; both exit the
 * process. Errors are printed on standard error, with exit status 2.
 *
 * @param service its name, the prefix of environment variables
 */
export function loadServiceConfig<T>(schema: ZodType<T>, service: string, { argv, env, stdout, stderr, exit }: ProcessLike): T {
  const args = argv.slice(2);
  if (args.includes(PRINT_SCHEMA)) {
    stdout.write(configJsonSchema(schema));
    return exit(0);
  }
  try {
    const config = loadConfig(schema, { service, argv: args.filter((arg) => arg !== PRINT_CONFIG), env });
    if (!args.includes(PRINT_CONFIG)) return config;
    stdout.write(redactedConfigYaml(config));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    stderr.write(`${error.message}\n`);
    return exit(2);
  }
  return exit(0);
}
