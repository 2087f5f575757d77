import { makeBundle } from "../bundling/make-bundle.js";
import { loadProject, type Project, PROJECT_FLAGS } from "../project/project.js";
import { parseFlags } from "../parse-flags.js";
import { checkTypes } from "../types/check-types.js";
import { checkBundle } from "./check-bundle.js";

type Write = (text: string) => void;

/** `flyte-ts check`: names all problems that registering would meet. Returns 1 for any. */
export async function checkCommand(argv: readonly string[], write: Write): Promise<number> {
  const { values, positionals } = parseFlags(argv, PROJECT_FLAGS);
  if (positionals.length > 0) return 2;
  const project = await loadProject(process.cwd(), values);
  // Both run at a time; the mistakes in types are named first: they often cause the others.
  const graphs = checkGraphs(project);
  graphs.catch(() => undefined);
  const types = await checkTypes(project.root);
  write(types.text);
  const { lines, isSound } = await graphs;
  for (const line of lines) write(`${line}\n`);
  return types.isSound && isSound ? 0 : 1;
}

async function checkGraphs(project: Project): Promise<{ readonly isSound: boolean; readonly lines: readonly string[] }> {
  const bundle = await makeBundle(project, "local");
  try {
    const { manifest, listed, warnings } = bundle;
    const problems = await checkBundle(project, bundle);
    if (problems.length > 0) return { isSound: false, lines: [...warnings, ...problems] };
    const externals = manifest.externals.map(({ name, version }) => `${name} ${version}`);
    const outside =
      externals.length === 0 ? [] : [`packages outside of the bundle, from the ${manifest.externalsFrom}: ${externals.join(", ")}`];
    return { isSound: true, lines: [...warnings, `${listed.entities.length} entities are sound`, ...outside] };
  } finally {
    bundle.host.close();
  }
}
