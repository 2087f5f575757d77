#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { describeError } from "./describe-error.js";
import { cacheDir } from "@flyte-ts/host";
import { helpText, usageOf } from "./usage.js";
import { UsageError } from "./usage-error.js";

async function main(argv: readonly string[]): Promise<number> {
  // Only the user who runs the command may read backups, secrets and logs.
  process.umask(0o077);
  enableCompileCache(join(cacheDir(), "node"));
  const [command, ...rest] = argv;
  // Each command loads only its own modules: clients and messages take 50 MiB and half a second.
  if (command === "start" && !rest.includes("--help")) return (await import("./start/start-command.js")).startCommand(rest);
  if (command === "import" && !rest.includes("--help")) return (await import("./import/command.js")).importCommand(rest);
  if (command === "doctor" && !rest.includes("--help")) {
    const { doctorCommand } = await import("./doctor/command.js");
    return doctorCommand(rest, (text) => process.stdout.write(text));
  }
  if ((command === "backup" || command === "restore") && !rest.includes("--help")) {
    const { backupCommand, restoreCommand } = await import("./backup/command.js");
    return (command === "backup" ? backupCommand : restoreCommand)(rest, (text) => process.stdout.write(text));
  }
  if (command === "python" && !rest.includes("--help")) {
    const status = await (await import("./python/command.js")).pythonCommand(rest, (text) => void process.stdout.write(text));
    if (status !== 2) return status;
  }
  if (command === "plugin" && !rest.includes("--help")) {
    const status = await (await import("./plugin/command.js")).pluginCommand(rest, (text) => void process.stdout.write(text));
    if (status !== 2) return status;
  }
  if (command === undefined || command === "help" || argv.includes("--help")) {
    process.stdout.write(helpText(command === "help" ? rest[0] : command));
    return 0;
  }
  const usage = usageOf(command);
  if (usage === undefined) throw new UsageError(`unknown command ${JSON.stringify(command)}; flyte-ts --help lists all commands`);
  process.stderr.write(usage);
  return 2;
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error: unknown) => {
    process.stderr.write(`flyte-ts: ${describeError(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  },
);
