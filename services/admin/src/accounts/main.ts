import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { loadConfig } from "@flyte-ts/config";
import { createPool } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { adminConfigSchema } from "../config.js";
import { runAccounts } from "../identity/index.js";

const args = process.argv.slice(2);
const options = args.findIndex((word) => word.startsWith("--"));
const [command, argv] = options < 0 ? [args, []] : [args.slice(0, options), args.slice(options)];
const config = loadConfig(adminConfigSchema, { service: "admin", argv, env: process.env });
const logger = createLogger({ service: "accounts", level: "warn" });
const db = createPool({ ...config.database, applicationName: "flyte-ts accounts", logger });
try {
  const directory = config.database.migrations ?? fileURLToPath(new URL("../../migrations", import.meta.url));
  await db.migrate({ directory, logger });
  const readPassword = async (): Promise<string> => (await text(process.stdin)).replace(/\r?\n$/, "");
  process.stdout.write(`${await runAccounts({ db, clock: () => new Date(), readPassword }, command)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await db.close();
}
