import { setImmediate as nextTurn } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { onBehalfOf } from "@flyte-ts/auth";
import type { BlobStore } from "@flyte-ts/blobstore";
import { compileTask, compileWorkflow, formatCompileErrors, type LaunchPlanInterface, compileDependencies } from "@flyte-ts/compiler";
import { checkExpansion, ExpansionError, type ExpansionLimits } from "@flyte-ts/domain/graph";
import { type CompiledTask, type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type DynamicJobSpec, DynamicJobSpecSchema } from "@flyte-ts/idl/flyteidl/core/dynamic_job_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { ParameterMapSchema, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { decodeStored, MAX_STORED_BYTES, readStored, StoredMessageError } from "@flyte-ts/input-limits";
import { type CallOptions, type Channel, Code, createClient, RpcError, type ServiceClient } from "@flyte-ts/rpc";
import { modelExpansion, parseClosure, WorkflowBuildError, WorkflowFormatError } from "@flyte-ts/workflow-crd";
import type { DynamicCalls, DynamicWorkflow } from "../../engine/calls/dynamic.js";
import type { CallResult, CallOf } from "../../engine/calls/call.js";
import { compiledUri, futuresUri } from "../../engine/graph/paths.js";
import { runCooperatively } from "../yield-to-event-loop.js";
import { type CallHandler, CallLimiter } from "./handlers.js";
import { toCallFailure } from "./call-failure.js";

export interface DynamicHandlerOptions {
  /** Channel to admin. */
  readonly channel: Channel;
  readonly blobs: Pick<BlobStore, "get" | "put">;
  /** Maximum of graphs read concurrently: each is in memory in several forms. */
  readonly concurrency: number;
  /** Maximum size of `futures.pb`, bytes. */
  readonly maxBytes: number;
  /** Maximum size of the compiled form in an event, bytes. */
  readonly maxEventBytes: number;
  /** Limits of one graph after expansion of its sub-workflows. */
  readonly limits: ExpansionLimits;
}

type DynamicCallHandlers = { readonly [K in keyof DynamicCalls]: CallHandler<K> };

/**
 * Reads the specs that dynamic tasks produced and compiles them, with the tasks and launch plans
 * that admin returns.
 */
export function dynamicCallHandlers(options: DynamicHandlerOptions): DynamicCallHandlers {
  const admin = createClient({ channel: options.channel, service: AdminService });
  return new CallLimiter(options.concurrency).limit({
    readDynamic: async (question) => {
      try {
        return await read(question, { ...options, admin });
      } catch (error) {
        return failure(error);
      }
    },
  });
}

interface Sources extends DynamicHandlerOptions {
  readonly admin: ServiceClient<typeof AdminService>;
}

/** An invalid spec, or an invalid reference in it. */
class InvalidDynamicSpec extends Error {}

/** A reference to a project that the execution's launcher may not read. */
class ForbiddenReference extends InvalidDynamicSpec {}

function failure(error: unknown): CallResult<DynamicWorkflow> {
  if (error instanceof InvalidDynamicSpec || error instanceof WorkflowBuildError || error instanceof WorkflowFormatError)
    return { kind: "refused", code: "INVALID_ARGUMENT", message: error.message };
  if (error instanceof ExpansionError) return { kind: "refused", code: "INVALID_ARGUMENT", message: `[User] ${error.message}` };
  return toCallFailure(error);
}

type ReadDynamic = CallOf<"readDynamic">;

async function read(question: ReadDynamic, sources: Sources): Promise<CallResult<DynamicWorkflow>> {
  const { blobs, maxEventBytes, limits } = sources;
  const place = compiledUri(question.attemptDir);
  let bytes = question.compiledBefore ? await blobs.get(place, { maxBytes: MAX_STORED_BYTES }) : undefined;
  let closure: CompiledWorkflowClosure;
  if (bytes === undefined) {
    closure = await compile(question, sources);
    await nextTurn();
    bytes = toBinary(CompiledWorkflowClosureSchema, closure);
    await blobs.put(place, bytes);
  } else closure = readCompiled(bytes, place);
  await nextTurn();
  const model = await runCooperatively(parseClosure(closure, question.options.resources));
  checkExpansion(textOf(question.id), modelExpansion(model), limits);
  return { kind: "value", value: { model, closure: bytes.length > maxEventBytes ? undefined : closure } };
}

function readCompiled(bytes: Uint8Array, uri: string): CompiledWorkflowClosure {
  try {
    return decodeStored(CompiledWorkflowClosureSchema, bytes);
  } catch (error) {
    if (!(error instanceof StoredMessageError)) throw error;
    throw new InvalidDynamicSpec(`[system] unable to read the compiled dynamic workflow, caused by: ${error.message}, at ${uri}`);
  }
}

async function compile(question: ReadDynamic, sources: Sources): Promise<CompiledWorkflowClosure> {
  const spec = await readSpec(question, sources);
  const template = templateOf(question, spec);
  const required = compileDependencies(template, spec.subworkflows);
  if (required.errors.length > 0) throw malformed(formatCompileErrors(required.errors));
  const own = compileTasks(question, spec);
  await requireReadable(foreignTasks(question, spec), question, sources);
  const given = new Set(own.map((task) => textOf(task.template?.id)));
  const others = required.tasks.filter((id) => !given.has(textOf(id)));
  const [registered, launchPlans] = await Promise.all([
    Promise.all(others.map((id) => readTask(id, question, sources))),
    Promise.all(required.launchPlans.map((id) => readLaunchPlan(id, question, sources))),
  ]);
  const tasks = [...own, ...registered];
  // A graph of 100,000 nodes takes seconds: yields to the event loop between its steps.
  await nextTurn();
  const compiled = compileWorkflow({ template, subWorkflows: spec.subworkflows, tasks, launchPlans, liftArrayInterfaces: true });
  if (!compiled.ok) throw malformed(formatCompileErrors(compiled.errors));
  return compiled.closure;
}

async function readSpec({ attemptDir }: ReadDynamic, { blobs, maxBytes }: Sources): Promise<DynamicJobSpec> {
  const uri = futuresUri(attemptDir);
  const spec = await readStored(blobs, { uri, schema: DynamicJobSpecSchema, limits: { bytes: maxBytes } }).catch((error: unknown) => {
    if (!(error instanceof StoredMessageError)) throw error;
    throw new InvalidDynamicSpec(`[system] unable to read futures file, maybe corrupted, caused by: ${error.message}, at ${uri}`);
  });
  if (spec === undefined)
    throw new InvalidDynamicSpec(`[system] unable to read futures file, maybe corrupted, caused by: there is no blob at ${uri}`);
  return spec;
}

/** Workflow template of the spec; without inputs, since all inputs of its nodes are bound in it. */
function templateOf({ id, parent }: ReadDynamic, { nodes, outputs }: DynamicJobSpec): WorkflowTemplate {
  return create(WorkflowTemplateSchema, { id, nodes, outputs, interface: { outputs: parent.interface?.outputs } });
}

/** Containers of its tasks inherit the parent's configuration, as in Go Flyte. */
function compileTasks({ parent }: ReadDynamic, { tasks }: DynamicJobSpec): CompiledTask[] {
  return tasks.map((template) => {
    if (template.target.case === "container" && parent.target.case === "container")
      template.target.value.config.push(...parent.target.value.config);
    const compiled = compileTask(template);
    if (!compiled.ok)
      throw new InvalidDynamicSpec(`[User] failed to compile dynamic tasks, caused by: ${formatCompileErrors(compiled.errors)}`);
    return compiled.compiled;
  });
}

async function readTask(id: Identifier, question: ReadDynamic, { admin }: Sources): Promise<CompiledTask> {
  const { closure } = await orInvalidReference(admin.getTask({ id }, rightsFor(id, question)), `task ${textOf(id)}`);
  if (closure?.compiledTask === undefined) throw new InvalidDynamicSpec(`[User] task ${textOf(id)} is not compiled`);
  return closure.compiledTask;
}

async function readLaunchPlan(id: Identifier, question: ReadDynamic, { admin }: Sources): Promise<LaunchPlanInterface> {
  const { spec, closure } = await orInvalidReference(admin.getLaunchPlan({ id }, rightsFor(id, question)), `launchplan ${textOf(id)}`);
  return {
    id,
    expectedInputs: closure?.expectedInputs ?? create(ParameterMapSchema),
    fixedInputs: spec?.fixedInputs ?? create(LiteralMapSchema),
    expectedOutputs: closure?.expectedOutputs ?? create(VariableMapSchema),
  };
}

/**
 * Options with which admin looks up a reference. Registration has checked that the workflow may use
 * the project of the task, and with it what the task refers to there. For other projects the
 * execution's launcher needs the rights: otherwise a task could read any project by this service's.
 */
function rightsFor(id: Identifier, question: ReadDynamic): CallOptions {
  return isForeign(id, question) ? { metadata: onBehalfOf(question.execution) } : {};
}

function isForeign(id: Identifier | undefined, { execution, parent }: ReadDynamic): id is Identifier {
  if (id === undefined || (id.project === "" && id.domain === "")) return false;
  return [execution, parent.id].every((own) => own?.project !== id.project || own.domain !== id.domain);
}

/** Returns a task of the spec under a name of another project for each such project and domain. */
function foreignTasks(question: ReadDynamic, { tasks }: DynamicJobSpec): Identifier[] {
  const foreign = tasks.flatMap(({ id }) => (isForeign(id, question) ? [id] : []));
  return [...new Map(foreign.map((id) => [JSON.stringify([id.project, id.domain]), id])).values()];
}

/**
 * Requires that the execution's launcher may read the projects whose names tasks bear: with the
 * name a task has the cached outputs. Such a task need not be registered.
 */
async function requireReadable(ids: readonly Identifier[], question: ReadDynamic, { admin }: Sources): Promise<void> {
  const check = async (id: Identifier): Promise<void> => {
    try {
      await orInvalidReference(admin.getTask({ id }, rightsFor(id, question)), `task ${textOf(id)}`);
    } catch (error) {
      if (!(error instanceof InvalidDynamicSpec) || error instanceof ForbiddenReference) throw error;
    }
  };
  await Promise.all(ids.map(check));
}

async function orInvalidReference<T>(call: Promise<T>, what: string): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.code === Code.PERMISSION_DENIED)
      throw new ForbiddenReference(`[User] no right to refer to ${what}, caused by: ${error.message}`);
    if (error.code === Code.NOT_FOUND || error.code === Code.INVALID_ARGUMENT)
      throw new InvalidDynamicSpec(`[User] incorrectly specified ${what}, caused by: ${error.message}`);
    throw error;
  }
}

function malformed(errors: string): InvalidDynamicSpec {
  return new InvalidDynamicSpec(`[User] malformed dynamic workflow, caused by: ${errors}`);
}

function textOf(id: Identifier | undefined): string {
  return `${id?.project ?? ""}:${id?.domain ?? ""}:${id?.name ?? ""}:${id?.version ?? ""}`;
}
