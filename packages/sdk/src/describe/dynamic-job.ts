import { create } from "@bufbuild/protobuf";
import { type DynamicJobSpec, DynamicJobSpecSchema } from "@flyte-ts/idl/flyteidl/core/dynamic_job_pb";
import type { TaskDefinition } from "../entity/definition.js";
import type { Compilation } from "../graph/compilation.js";
import { Graph, within } from "../graph/graph.js";
import { subWorkflowsOf } from "../graph/sub-workflows.js";
import { bindOutputs } from "../graph/workflow-graph.js";
import { taskTemplates } from "./describe.js";
import type { TaskLocation } from "./registration.js";

/** Builds the graph that a dynamic task returns: nodes, and the templates that they use. */
export function buildDynamicJob(
  definition: TaskDefinition,
  build: () => unknown,
  compilation: Compilation,
  locate: (task: TaskDefinition) => TaskLocation | undefined,
): DynamicJobSpec {
  const graph = new Graph(compilation, compilation.name(definition));
  const result = within(graph, build);
  const outputs = bindOutputs(definition, result, graph.name);
  return create(DynamicJobSpecSchema, {
    nodes: graph.nodes,
    minSuccesses: BigInt(graph.nodes.length),
    outputs,
    subworkflows: [...subWorkflowsOf({ nodes: graph.nodes }, compilation)],
    tasks: taskTemplates(compilation, locate),
  });
}
