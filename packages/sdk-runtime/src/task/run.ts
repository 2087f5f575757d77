import { callsEntities, type CollectedEntity, type Collection } from "@flyte-ts/sdk/runtime";
import type { RunRequest } from "../run-request.js";
import { BlobFileStore } from "../context/blob-file-store.js";
import { type Classified, classify, ignoresOutputs, RunFailure, userError } from "../failure/failure.js";
import { writeFailure } from "../failure/failure-document.js";
import { readInputs } from "./inputs.js";
import { Lifetime } from "./lifetime.js";
import { writeOutputs } from "./outputs.js";
import { SourceMapper } from "../failure/source-mapper.js";
import { registrationOf } from "./registration.js";
import { createContext, type RunContext } from "../context/run-context.js";
import { type Execution, execute } from "./execute.js";

/** Code of a bundle. */
export interface BundleCode {
  /** URL of its folder. */
  readonly folder: string;
  readonly collect: () => Promise<Collection>;
  /** Collects the entities of one module. */
  readonly collectOne: (module: string) => Promise<Collection>;
}

/** Exit status of a process that SIGTERM ended. */
const TERMINATED = 143;

/**
 * Runs a task and writes what it leaves: outputs, the graph of a dynamic task, or an error. Returns
 * the exit status.
 */
export async function runRequest(request: RunRequest, code: BundleCode): Promise<number> {
  const { environment } = request;
  const lifetime = new Lifetime(environment);
  const sources = new SourceMapper(code.folder);
  const context = createContext(request, lifetime.signal);
  const cleanups: (() => Promise<void>)[] = [];
  try {
    await lifetime.during(runTaskOf(request, { code, context, onFailure: (work) => cleanups.push(work) }));
    return 0;
  } catch (error) {
    if (ignoresOutputs(error)) return 0;
    const failure = classify(error, { sources, terminated: lifetime.signal.aborted });
    const cleaned = failure.recoverable ? [] : cleanups.map((work) => work());
    const status = await reportFailure(failure, { request, context, terminated: lifetime.signal.aborted });
    await Promise.allSettled(cleaned);
    return status;
  } finally {
    lifetime.end();
  }
}

interface Running {
  readonly code: BundleCode;
  readonly context: RunContext;
  readonly onFailure: Execution["onFailure"];
}

async function runTaskOf(request: RunRequest, { code, context, onFailure }: Running): Promise<void> {
  const { definition } = await findTask(request, code);
  const inputs = await readInputs(request, definition);
  const files = new BlobFileStore(request.blobs, request.addresses.rawOutputPrefix);
  const needsAll = callsEntities(definition);
  const collection = needsAll ? await code.collect() : undefined;
  const registration = needsAll ? registrationOf(request, code.folder) : undefined;
  const result = await execute(definition, { inputs, files, context: context.context, registration, collection, onFailure }, request);
  if (definition.settings.deck === true || context.decks.isUsed) await context.decks.write();
  await writeOutputs(request, definition, result);
}

async function findTask(
  { task }: RunRequest,
  code: BundleCode,
): Promise<CollectedEntity & { readonly definition: { readonly kind: "task" } }> {
  const found = (await code.collectOne(task.module)).find(task.module, task.name);
  if (found?.definition.kind !== "task")
    throw new RunFailure(`the bundle has no task ${task.name} in ${task.module}; register the project again`, userError("UnknownTask"));
  return { ...found, definition: found.definition };
}

interface Reported {
  readonly request: RunRequest;
  readonly context: RunContext;
  readonly terminated: boolean;
}

async function reportFailure(failure: Classified, { request, context, terminated }: Reported): Promise<number> {
  process.stderr.write(`${failure.message}\n`);
  // The deck shows how far the task came.
  if (context.decks.isUsed) await context.decks.write().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  await writeFailure({ blobs: request.blobs, environment: request.environment, outputPrefix: request.addresses.outputPrefix }, failure);
  if (terminated) return TERMINATED;
  return request.environment["FLYTE_FAIL_ON_ERROR"] === "true" ? 1 : 0;
}
