import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { Executions, FlyteApi } from "@flyte-ts/sdk/api";
import {
  type Collection,
  type Definition,
  type EntityAddress,
  type Registration,
  runTask,
  type TaskDefinition,
  type TaskResult,
  withChildren,
} from "@flyte-ts/sdk/runtime";
import { RunFailure, userError } from "../failure/failure.js";
import type { RunRequest } from "../run-request.js";
import type { Execution } from "../task/execute.js";
import { type ChildEntity, ChildExecutions } from "./child-executions.js";

/** Maximum number of children at a time where the task names none. */
const DEFAULT_CONCURRENCY = 16;
const RESOURCE_TYPES = { task: ResourceType.TASK, workflow: ResourceType.LAUNCH_PLAN, launchplan: ResourceType.LAUNCH_PLAN } as const;

/** Runs an eager task: each entity that it calls is an execution of its own. */
export async function runEager(
  definition: TaskDefinition,
  execution: Execution,
  { environment, addresses }: RunRequest,
): Promise<TaskResult> {
  const { context, files, inputs, registration, collection, onFailure } = execution;
  if (registration === undefined || collection === undefined) throw new RunFailure("an eager task needs its registration");
  const concurrency = definition.execution.form === "eager" ? definition.execution.concurrency : undefined;
  if (!environment["FLYTE_PLATFORM_URL"])
    throw new Error("FLYTE_PLATFORM_URL is not set: eager tasks start executions by the API of the platform");
  const api = new FlyteApi({}, environment);
  const children = new ChildExecutions({
    executions: new Executions(api),
    execution: context.execution,
    // The last part of the prefix numbers the attempt.
    node: addresses.outputPrefix.replace(/\/\d+\/?$/, ""),
    concurrency: concurrency ?? DEFAULT_CONCURRENCY,
  });
  const abandon = (): void => {
    void children.abandon().catch((error: unknown) => context.log.warn("children cannot be aborted", { error }));
  };
  context.signal.addEventListener("abort", abandon, { once: true });
  onFailure(() => children.stop());
  const { project, domain, version } = registration;
  const run = (called: Definition, literals: Parameters<ChildExecutions["run"]>[1]) =>
    children.run({ project, domain, version, ...entityOf(called, collection, registration) }, literals);
  try {
    return await withChildren({ files, run }, () => runTask(definition, { inputs, files, context }));
  } finally {
    context.signal.removeEventListener("abort", abandon);
    const page = children.records.html(`${await api.origin()}/console`);
    if (page !== undefined) context.deck("Children").html(page);
  }
}

/** Returns the version of a reference: its own, or the newest one at the registration. */
function versionOf(address: EntityAddress, { resolve }: Registration): string {
  const version = address.version ?? resolve?.(address);
  if (version !== undefined) return version;
  const message = `the reference to the ${address.kind} ${address.name} has no version, and registering the project found none; give it one`;
  throw new RunFailure(message, userError("UnknownEntity"));
}

/** Names the entity that a child execution runs; a reference may belong to another project. */
function entityOf(
  called: Definition,
  collection: Collection,
  registration: Registration,
): Pick<ChildEntity, "resourceType" | "name"> & Partial<ChildEntity> {
  if (called.kind === "reference") {
    const { kind, ...address } = called.address;
    return { resourceType: RESOURCE_TYPES[kind], ...address, version: versionOf(called.address, registration) };
  }
  const found = collection.entities.find(({ definition }) => definition.entity === called.entity);
  if (found === undefined) {
    const message = "an eager task calls an entity that is not exported by a module of the project; export it";
    throw new RunFailure(message, userError("UnknownEntity"));
  }
  return { resourceType: RESOURCE_TYPES[called.kind], name: found.name };
}
