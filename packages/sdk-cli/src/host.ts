// Program of EntityHost: loads the entry of a bundle and answers calls about it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { keepCompiledCode } from "./compiled-code.js";
import type { LocalEntry } from "./entities/serve.js";
import type { HostAnswer, HostRequest, HostStart } from "./entities/messages.js";

keepCompiledCode();

const entry = Promise.withResolvers<LocalEntry>();
const loaded = Promise.all([import("./entities/serve.js"), entry.promise]).then(([{ handlersOf }, known]) => handlersOf(known));
// The first call reports that the modules cannot be loaded.
loaded.catch(() => undefined);

/** Modules of the SDK that this command has bundled, and that local bundles begin with. */
if (process.argv.includes("--preload"))
  for (const name of ["sdk/index.js", "runtime/task.js", "runtime/describe.js", "sdk/runtime.js"]) {
    const file = join(import.meta.dirname, name);
    if (existsSync(file)) void import(pathToFileURL(file).href);
  }

async function answer({ id, call, request }: HostRequest): Promise<HostAnswer> {
  try {
    const handler = (await loaded)[call] as (request: unknown) => Promise<unknown>;
    return { id, answer: await handler(request) };
  } catch (error) {
    return { id, error: describe(error) };
  }
}

/** Messages of the SDK name the place themselves; other errors are described by their stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ["GraphError", "ValueError"].includes(error.name) ? error.message : (error.stack ?? error.message);
}

process.on("message", (message: HostStart | HostRequest) => {
  if ("load" in message) {
    process.chdir(message.cwd);
    entry.resolve(import(pathToFileURL(message.load).href) as Promise<LocalEntry>);
  } else void answer(message).then((answered) => process.send?.(answered));
});
process.on("disconnect", () => process.exit(0));
