import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../repository.js";
import { type RunningStack, runPython } from "../stack/stack-fixture.js";
import type { RunCase } from "./case-runs.js";
import { runCommand, versionIn } from "./project.js";

/** A run of an example. The examples are a project of their own, with a TypeScript of its own. */
export interface ExampleCase extends RunCase {
  /** Kubernetes Secrets: `group/key` is a key of the Secret `group`. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** Folder of the examples. */
export const EXAMPLES = join(root, "examples", "typescript");

const cases = (await import(pathToFileURL(join(EXAMPLES, "src", "cases.ts")).href)) as { readonly CASES: readonly ExampleCase[] };
export const EXAMPLE_CASES = cases.CASES;

/**
 * Registers the examples and their Python tasks on a stack.
 *
 * @param folder folder of the examples or of a copy
 * @returns the version of an entity by its name
 */
export function registerExamples(stack: RunningStack, folder: string = EXAMPLES): (name: string) => string {
  // A project of its own: it refers to entities of Python, which must be registered before.
  const mixed = join(folder, "src", "mixed");
  const scope = ["-p", "flytesnacks", "-d", "development"];
  runPython({ stack, folder: mixed }, "pyflyte", ["register", ...scope, "--version", "v1", "pipelines"]);
  const endpoint = `localhost:${stack.api}`;
  const register = (project: string) => versionIn(runCommand({ folder: project, endpoint }, ["register"]));
  const versions = { flows: register(folder), mixed: register(mixed) };
  return (name) => (name.startsWith("references.") ? versions.mixed : versions.flows);
}
