import { resolve } from "node:path";
import { makeBundle } from "../bundling/make-bundle.js";
import { loadProject, PROJECT_FLAGS } from "../project/project.js";
import { parseFlags } from "../parse-flags.js";
import { findTarget } from "./find-target.js";
import { parseSignals, readInputs, splitFlags } from "./input-flags.js";
import { runHere } from "./run-here.js";

const FLAGS = {
  ...PROJECT_FLAGS,
  remote: { type: "boolean", default: false },
  wait: { type: "boolean", default: false },
  inputs: { type: "string" },
  signal: { type: "string", multiple: true, default: [] as string[] },
  version: { type: "string" },
} as const;
const OWN_FLAGS = new Map(Object.entries(FLAGS).map(([name, { type }]) => [name, type === "string"]));

/** `flyte-ts run FILE EXPORT`: runs an entity in this process, or with --remote on the server. */
export async function runCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const { own, inputs: given } = splitFlags(argv, OWN_FLAGS);
  const { values, positionals } = parseFlags(own, FLAGS);
  const [file, name, ...more] = positionals;
  if (file === undefined || name === undefined || more.length > 0) return 2;
  const project = await loadProject(process.cwd(), values);
  const inputs = { ...readInputs(values.inputs), ...given };
  // A version that the user chose is one of the whole project, as `register` makes it.
  const only = values.remote && values.version !== undefined ? undefined : resolve(file);
  const bundle = await makeBundle(project, values.remote ? "registered" : "local", only);
  try {
    const target = findTarget(project, bundle, { file, name });
    if (values.remote) {
      const { runRemote } = await import("./run-remote.js");
      return await runRemote({ project, bundle, target, inputs, version: values.version, wait: values.wait }, write);
    }
    return await runHere({ project, bundle, target, inputs, signals: parseSignals(values.signal) });
  } finally {
    bundle.host.close();
  }
}
