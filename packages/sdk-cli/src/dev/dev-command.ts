import { relative, resolve } from "node:path";
import { loadProject, PROJECT_FLAGS, rootOf } from "../project/project.js";
import { parseFlags } from "../parse-flags.js";
import { readInputs, splitFlags } from "../run/input-flags.js";
import { DevRound, type DevTarget } from "./dev-round.js";
import { ProjectWatcher } from "./project-watcher.js";
import { until } from "./until.js";

const FLAGS = {
  ...PROJECT_FLAGS,
  remote: { type: "boolean", default: false },
  inputs: { type: "string" },
} as const;
const OWN_FLAGS = new Map(Object.entries(FLAGS).map(([name, { type }]) => [name, type === "string"]));
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * `flyte-ts dev [FILE EXPORT]`: checks the project after each save, and runs the entity when types
 * and graphs are sound. Returns 0 after Ctrl-C.
 */
export async function devCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const { own, inputs: given } = splitFlags(argv, OWN_FLAGS);
  const { values, positionals } = parseFlags(own, FLAGS);
  const [file, name, ...more] = positionals;
  if (more.length > 0 || (file !== undefined && name === undefined)) return 2;
  const inputs = { ...readInputs(values.inputs), ...given };
  const target: DevTarget | undefined = file === undefined || name === undefined ? undefined : { file: resolve(file), name, inputs };
  const stop = stopRequested();
  const root = rootOf(process.cwd());
  const watcher = new ProjectWatcher(root);
  write(`watching ${relative(process.cwd(), root) || "this folder"}; Ctrl-C ends\n`);
  try {
    while (!stop.aborted) {
      const changed = watcher.changes();
      const round = new AbortController();
      const work = new DevRound({ load: () => loadProject(root, values), target, remote: values.remote, write }).run(
        AbortSignal.any([round.signal, stop]),
      );
      const paths = await until(stop, changed);
      round.abort();
      await work;
      if (paths !== undefined) write(`\n${paths.join(", ")} changed\n`);
    }
    return 0;
  } finally {
    watcher.close();
  }
}

/** Returns a signal that is aborted when the user or the system ends the command. */
function stopRequested(): AbortSignal {
  const stop = new AbortController();
  for (const signal of STOP_SIGNALS) process.once(signal, () => stop.abort());
  return stop.signal;
}
