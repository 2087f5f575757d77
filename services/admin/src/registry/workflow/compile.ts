import { formatCompileErrors, type LaunchPlanInterface, compileDependencies } from "@flyte-ts/compiler";
import { WorkflowCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import type { CompiledTask } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { RegistryDeps } from "../deps.js";
import { identifierText, invalidArgument } from "../../platform/index.js";
import { findLaunchPlan } from "../store/launch-plans.js";
import { findTask } from "../store/tasks.js";
import { type LoadReferences, MalformedTemplatesError } from "./compiler/compiler-worker.js";
import {
  type CompiledWorkflow,
  type CompileOutcome,
  compileToBytes,
  type ResolvedRefs,
  type EntityRefs,
  type Templates,
} from "./compiler/compile-to-bytes.js";
import { decodeTemplates, encodeTemplates, launchPlanInterface } from "./compiler/encoded-source.js";

export interface WorkflowDefinition {
  readonly id: Identifier;
  readonly template: WorkflowTemplate;
  readonly subWorkflows: readonly WorkflowTemplate[];
  /** The encoded template, if its nodes have not been decoded. */
  readonly encodedTemplate?: Uint8Array | undefined;
}

/**
 * Number of nodes from which workflows are compiled in a worker thread, since they take at least
 * 0.1 s.
 */
const MANY_NODES = 5_000;

/**
 * Compiles a workflow against the registered tasks and launch plans.
 *
 * @throws RpcError INVALID_ARGUMENT listing every compile error, or naming a task or launch plan
 *   that is not
 * registered.
 */
export async function compileStoredWorkflow(
  { db, compilerWorker }: Pick<RegistryDeps, "db" | "compilerWorker">,
  { id, template, subWorkflows, encodedTemplate }: WorkflowDefinition,
): Promise<CompiledWorkflow> {
  const failed = (reason: string) => invalidArgument(`failed to compile workflow for [${identifierText(id)}] with err: ${reason}`);
  const missing = (what: Identifier) => failed(`missing entity of type ${identifierText(what)}`);
  const load = async (refs: EntityRefs): Promise<ResolvedRefs> => {
    const tasks: CompiledTask[] = [];
    for (const taskId of refs.tasks) {
      const task = await findTask(db, taskId);
      if (task === undefined) throw missing(taskId);
      tasks.push(task.compiled);
    }
    const launchPlans: LaunchPlanInterface[] = [];
    for (const launchPlanId of refs.launchPlans) {
      const found = await findLaunchPlan(db, launchPlanId);
      if (found === undefined) throw missing(launchPlanId);
      launchPlans.push({ ...launchPlanInterface(found.launchPlan), id: launchPlanId });
    }
    return { tasks, launchPlans };
  };
  const nodes = [template, ...subWorkflows].reduce((sum, each) => sum + each.nodes.length, 0);
  const attached = compilerWorker !== undefined && (encodedTemplate !== undefined || nodes >= MANY_NODES);
  const templates = { template, subWorkflows };
  const outcome = attached
    ? await compilerWorker.compile(encodeTemplates(id, templates, encodedTemplate), load).catch(rejectMalformed)
    : await compileHere(encodedTemplate === undefined ? templates : decodeTemplates(encodeTemplates(id, templates, encodedTemplate)), load);
  if (!outcome.ok) throw failed(outcome.errors);
  return outcome.workflow;
}

async function compileHere(templates: Templates, load: LoadReferences): Promise<CompileOutcome> {
  const { errors, ...refs } = compileDependencies(templates.template, templates.subWorkflows);
  if (errors.length > 0) return { ok: false, errors: formatCompileErrors(errors) };
  return compileToBytes({ ...templates, ...(await load(refs)) });
}

/** Returns the same error as for a request that fails to decode before its handler. */
function rejectMalformed(error: unknown): never {
  if (!(error instanceof MalformedTemplatesError)) throw error;
  throw invalidArgument(`request is not a valid ${WorkflowCreateRequestSchema.typeName}: ${error.message}`);
}
