import { join, relative, resolve } from "node:path";
import { makeBundle, type LoadedBundle } from "../bundling/make-bundle.js";
import { loadProject, type Project, PROJECT_FLAGS } from "../project/project.js";
import { sourceModules } from "../project/source-modules.js";
import { parseFlags } from "../parse-flags.js";
import { UsageError } from "../usage-error.js";
import { parseSignals, readInputs, splitFlags } from "./input-flags.js";

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
  const bundle = await makeBundle(project, values.remote ? "registered" : "local", resolve(file));
  try {
    const target = findTarget(project, bundle, { file, name });
    if (values.remote) {
      const { runRemote } = await import("./run-remote.js");
      return await runRemote({ project, bundle, target, inputs, version: values.version, wait: values.wait }, write);
    }
    return await bundle.host.call("local", {
      ...target,
      inputs,
      signals: parseSignals(values.signal),
      secrets: {},
      cacheFolder: join(project.root, ".flyte-ts", "cache"),
    });
  } finally {
    bundle.host.close();
  }
}

/** Finds the entity that FILE and EXPORT name. */
function findTarget(
  project: Project,
  { listed }: LoadedBundle,
  { file, name }: { readonly file: string; readonly name: string },
): { readonly module: string; readonly export: string; readonly kind: "task" | "workflow" | "launchplan"; readonly name: string } {
  const path = resolve(file);
  const module = sourceModules(project).find((source) => source.file === path)?.module;
  if (module === undefined) throw new UsageError(`${relative(project.root, path)} is not among the sources of flyte.config.ts`);
  const found = listed.entities.find((entity) => entity.module === module && entity.export === name);
  if (found === undefined || found.kind === "reference") {
    const others = listed.entities.filter((entity) => entity.module === module).map((entity) => entity.export);
    throw new UsageError(`${file} exports no ${name}; it exports ${others.join(", ") || "no task or workflow"}`);
  }
  return { module, export: name, kind: found.kind, name: found.name };
}
