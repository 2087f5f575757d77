import { createHash } from "node:crypto";
import { rolldown } from "rolldown";
import type { Project } from "../project/project.js";
import { ExternalPackages } from "./external-packages.js";

const TASK = "\0flyte-task";
/** Functions of the SDK whose calls have no effect beyond their result. */
const PURE = ["t", "task", "workflow", "dynamic", "eager", "launchPlan", "container", "reference", "connectorTask"];

export interface HashedTask {
  /** Absolute path of its module. */
  readonly file: string;
  readonly export: string;
}

export interface CodeHash {
  readonly hash: string;
  /** External packages that the task's code imports. */
  readonly externals: readonly string[];
}

/**
 * Hashes the code that a task uses: its function, the helpers and types that it reaches, and the
 * packages among them, without comments and formatting. The SDK is not part of it.
 */
export async function hashTask(project: Project, { file, export: name }: HashedTask): Promise<CodeHash> {
  const externals = new ExternalPackages(project);
  const bundle = await rolldown({
    cwd: project.root,
    input: { task: TASK },
    platform: "node",
    external: [/^@flyte-ts\/sdk(\/|$)/],
    treeshake: { manualPureFunctions: PURE, propertyReadSideEffects: false },
    plugins: [
      {
        name: "flyte-task",
        resolveId: (id) => (id === TASK ? id : undefined),
        load: (id) => (id === TASK ? `export { ${name} } from ${JSON.stringify(file)};` : undefined),
      },
      externals.plugin,
    ],
    onLog: () => undefined,
  });
  try {
    const { output } = await bundle.generate({ format: "esm", minify: true, codeSplitting: false });
    const [chunk] = output;
    const imported = new Set([...chunk.imports, ...chunk.dynamicImports].map((id) => id.split("/", id.startsWith("@") ? 2 : 1).join("/")));
    const used = externals.list().filter((external) => imported.has(external.name));
    return { hash: createHash("sha256").update(chunk.code).digest("hex"), externals: used.map((external) => external.name) };
  } finally {
    await bundle.close();
  }
}
