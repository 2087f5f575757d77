import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { loadServiceConfig } from "@flyte-ts/config";
import { createPool } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { type AdminConfig, adminConfigSchema } from "../config.js";
import { ACCOUNTS_HELP, AccountsUsageError, parseAccountsCommand, runAccounts } from "../identity/index.js";
import { splitArguments } from "./split-arguments.js";

type Command = ReturnType<typeof parseAccountsCommand>;

const { words, flags } = splitArguments(process.argv.slice(2));
if (flags.includes("--help") || words[0] === "help" || (words.length === 0 && flags.length === 0)) {
  process.stdout.write(ACCOUNTS_HELP);
} else {
  const { stdout, stderr, env } = process;
  const exit = (status: number): never => process.exit(status);
  // Prints wrong settings in one line and exits with status 2.
  const load = () => loadServiceConfig(adminConfigSchema, "admin", { argv: ["", "", ...flags], env, stdout, stderr, exit });
  try {
    // The schema and the configuration are printed without a command.
    const command = words.length === 0 && flags.some((flag) => flag.startsWith("--print-")) ? undefined : parseAccountsCommand(words);
    const config = load();
    if (command !== undefined) process.exitCode = await run(config, command);
  } catch (error) {
    if (!(error instanceof AccountsUsageError)) throw error;
    stderr.write(`accounts: ${error.message}\n`);
    process.exitCode = 2;
  }
}

/** Runs the command. Returns the exit status. */
async function run(config: AdminConfig, command: Command): Promise<number> {
  const logger = createLogger({ service: "accounts", level: "warn" });
  const db = createPool({ ...config.database, applicationName: "flyte-ts accounts", logger });
  try {
    const directory = config.database.migrations ?? fileURLToPath(new URL("../../migrations", import.meta.url));
    await db.migrate({ directory, logger });
    const readPassword = async (): Promise<string> => (await text(process.stdin)).replace(/\r?\n$/, "");
    process.stdout.write(`${await runAccounts({ db, clock: () => new Date(), readPassword }, command)}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`accounts: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    await db.close();
  }
}
