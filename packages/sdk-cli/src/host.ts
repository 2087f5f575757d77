// Program of EntityHost: loads the entry of a bundle and answers calls about it.
import { pathToFileURL } from "node:url";
import { handlersOf, type LocalEntry } from "./entities/serve.js";
import type { HostAnswer, HostRequest } from "./entities/messages.js";

const loaded = import(pathToFileURL(process.argv[2] ?? "").href).then((entry: LocalEntry) => handlersOf(entry));
// The first call reports that the modules cannot be loaded.
loaded.catch(() => undefined);

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

process.on("message", (request) => void answer(request as HostRequest).then((message) => process.send?.(message)));
process.on("disconnect", () => process.exit(0));
