import { type CompileErrors, compileTask, compileWorkflow, type LaunchPlanInterface } from "@flyte-ts/compiler";
import { create } from "@bufbuild/protobuf";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type TaskTemplate, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { CompiledTask } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { typedInterfaceOf } from "../codec/literal-type.js";
import { taskTemplates } from "../describe/describe.js";
import { launchPlanSpec, parametersOf } from "../describe/launch-plan-spec.js";
import { LOCAL_REGISTRATION } from "../describe/registration.js";
import { definitionOf, type LaunchPlanDefinition, type ReferenceDefinition } from "../entity/definition.js";
import type { Entity } from "../entity/entity.js";
import { GraphError, ValueError } from "../entity/errors.js";
import { Compilation } from "../graph/compilation.js";
import { buildWorkflow } from "../graph/workflow-graph.js";
import type { Outputs } from "../graph/reference-type.js";
import type { Fields } from "../type/type.js";

/** Answer of the server's compiler about a workflow. */
export interface CompileReport {
  readonly ok: boolean;
  readonly errors: readonly string[];
  /** Ids of the nodes. */
  readonly nodes: readonly string[];
}

/** Compiles a workflow as the server does, without a server. */
export function compile<I extends Fields, O extends Outputs>(entity: Entity<I, O>): CompileReport {
  const definition = definitionOf(entity);
  if (definition.kind !== "workflow") throw new TypeError("compile() takes a workflow");
  return compileIn(new Compilation(LOCAL_REGISTRATION, buildWorkflow, true), definition);
}

/** Compiles a workflow of a compilation. */
export function compileIn(compilation: Compilation, definition: Parameters<Compilation["workflow"]>[0]): CompileReport {
  try {
    const { template, subWorkflows } = compilation.workflow(definition);
    const nodes = template.nodes.map(({ id }) => id);
    const tasks = compiledTasks(compilation);
    if ("errors" in tasks) return { ok: false, errors: tasks.errors, nodes };
    const launchPlans = [...compilation.launchPlans.values()].map((plan) => planInterface(plan, compilation));
    const result = compileWorkflow({ template, subWorkflows, tasks: tasks.compiled, launchPlans, liftArrayInterfaces: true });
    return result.ok ? { ok: true, errors: [], nodes } : { ok: false, errors: textsOf(result.errors), nodes };
  } catch (error) {
    if (!(error instanceof GraphError || error instanceof ValueError)) throw error;
    return { ok: false, errors: [error.message], nodes: [] };
  }
}

function compiledTasks(compilation: Compilation): { readonly compiled: readonly CompiledTask[] } | { readonly errors: readonly string[] } {
  const templates = [...taskTemplates(compilation, () => undefined), ...referencedTasks(compilation)];
  const results = templates.map(compileTask);
  const errors = results.flatMap((result) => (result.ok ? [] : textsOf(result.errors)));
  return errors.length > 0 ? { errors } : { compiled: results.flatMap((result) => (result.ok ? [result.compiled] : [])) };
}

/** Makes templates of the registered tasks in use, of whom the interface is known. */
function referencedTasks(compilation: Compilation): TaskTemplate[] {
  return [...compilation.references.values()]
    .filter(({ address }) => address.kind === "task")
    .map((definition) =>
      create(TaskTemplateSchema, { id: compilation.useReference(definition), type: "reference", interface: typedInterfaceOf(definition) }),
    );
}

function planInterface(definition: LaunchPlanDefinition | ReferenceDefinition, compilation: Compilation): LaunchPlanInterface {
  const { outputs: expectedOutputs } = typedInterfaceOf(definition);
  if (expectedOutputs === undefined) throw new GraphError("a launch plan has no outputs");
  if (definition.kind === "reference") {
    const id = compilation.useReference(definition);
    return { id, expectedInputs: parametersOf(definition.inputs, {}), fixedInputs: NO_LITERALS, expectedOutputs };
  }
  const id = compilation.id(definition, ResourceType.LAUNCH_PLAN);
  const spec = launchPlanSpec(definition, compilation.name(definitionOf(definition.workflow)), compilation.registration);
  const expectedInputs = spec.defaultInputs ?? parametersOf({}, {});
  return { id, expectedInputs, fixedInputs: spec.fixedInputs ?? NO_LITERALS, expectedOutputs };
}

const NO_LITERALS: LaunchPlanInterface["fixedInputs"] = { $typeName: "flyteidl.core.LiteralMap", literals: {} };

function textsOf(errors: CompileErrors): readonly string[] {
  return errors.map(({ code, nodeId, description }) => `${code}, Node Id: ${nodeId}, Description: ${description}`);
}
