import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { decodeOutputs, encodeInputs } from "../codec/interface-values.js";
import { LOCAL_REGISTRATION, type Registration } from "../describe/registration.js";
import type { Definition } from "../entity/definition.js";
import { LocalFileStore } from "../file/local-store.js";
import { Compilation } from "../graph/compilation.js";
import { buildWorkflow } from "../graph/workflow-graph.js";
import { MemoryCache } from "./cache.js";
import { EntityRunner } from "./entity-runner.js";
import { rootCause } from "./local-error.js";
import type { LocalOptions, NodeRecord } from "./options.js";

export interface LocalResult {
  readonly outputs: unknown;
  readonly nodes: readonly NodeRecord[];
  readonly decks: Readonly<Record<string, string>>;
}

/** Runs an entity in this process; each value between nodes is encoded and decoded. */
export async function runDefinition(definition: Definition, inputs: unknown, options: LocalOptions = {}): Promise<LocalResult> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "flyte-ts-run-")));
  const files = new LocalFileStore(folder);
  const compilation = new Compilation(localRegistration(options), buildWorkflow, true);
  const cache = options.cache ?? new MemoryCache();
  const runner = new EntityRunner({ compilation, files, cache, options, rawOutputPrefix: pathToFileURL(join(folder, "blobs")).href });
  const literals = await encodeInputs(definition, inputs, files);
  const outputs = await runner.runTop(definition, literals);
  return { outputs: await decodeOutputs(definition, outputs, files), nodes: runner.records(), decks: Object.fromEntries(runner.decks) };
}

/** Runs an entity for its outputs; throws the error of the task that failed. */
export async function runInProcess(definition: Definition, inputs: unknown): Promise<unknown> {
  try {
    return (await runDefinition(definition, inputs)).outputs;
  } catch (error) {
    throw rootCause(error);
  }
}

function localRegistration({ registration }: LocalOptions): Registration {
  return { ...LOCAL_REGISTRATION, ...registration };
}
