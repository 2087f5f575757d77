import { setTimeout as sleep } from "node:timers/promises";
import { createBlobStore } from "@flyte-ts/blobstore";
import { parseCommand, UsageError } from "./command-line.js";
import { fileMask } from "./file-mask.js";
import { runCommand } from "./run-command.js";
import { blobStoreConfigFromEnv } from "./store/config-from-env.js";

// The first process of a container gets only signals that it handles.
const { promise: terminated, resolve } = Promise.withResolvers<void>();
process.on("SIGTERM", () => resolve());
// In a pod of containers the task runs as another user than this process, and reads, changes and
// removes downloaded files.
process.umask(fileMask(process.env));
const log = (text: string) => void process.stdout.write(`${text}\n`);
try {
  const command = parseCommand(process.argv.slice(2));
  if (command.name === "download") process.once("SIGTERM", () => process.exit(143));
  const store = createBlobStore(blobStoreConfigFromEnv(process.env));
  const alive = setInterval(() => undefined, 60_000);
  process.exitCode = await runCommand(command, { store, terminated, now: Date.now, sleep: (ms) => sleep(ms), log });
  clearInterval(alive);
  store.close();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  log(error.message);
  process.exitCode = 2;
}
