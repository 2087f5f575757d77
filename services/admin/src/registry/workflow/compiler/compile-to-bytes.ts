import { create } from "@bufbuild/protobuf";
import { closureExpansion, compileWorkflow, formatCompileErrors, type CompileDependencies, type WorkflowSource } from "@flyte-ts/compiler";
import type { Expansion } from "@flyte-ts/domain/graph";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { digestOf } from "../../../platform/index.js";

/** A compiled workflow as stored. */
export interface CompiledWorkflow {
  /** Encoded core.CompiledWorkflowClosure. */
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes. */
  readonly digest: Uint8Array;
  /** Encoded core.TypedInterface. */
  readonly typedInterface: Uint8Array;
  /** Nodes of the workflow itself, including those that the compiler adds. */
  readonly nodes: number;
  /** Size with its sub-workflows expanded. */
  readonly expansion: Expansion;
}

export type CompileOutcome = { readonly ok: true; readonly workflow: CompiledWorkflow } | { readonly ok: false; readonly errors: string };

export type Templates = Pick<WorkflowSource, "template" | "subWorkflows">;

/** References of templates. */
export type EntityRefs = Pick<CompileDependencies, "tasks" | "launchPlans">;

/** Definitions of the references. */
export type ResolvedRefs = Pick<WorkflowSource, "tasks" | "launchPlans">;

export type CompileSource = Templates & ResolvedRefs;

/** Compiles and encodes a workflow. */
export function compileToBytes(
  { template, subWorkflows, tasks, launchPlans }: CompileSource,
  { mutateTemplates = false }: Pick<WorkflowSource, "mutateTemplates"> = {},
): CompileOutcome {
  const source = { template, subWorkflows, tasks, launchPlans };
  const compilation = compileWorkflow({ ...source, liftArrayInterfaces: true, mutateTemplates });
  return compilation.ok
    ? { ok: true, workflow: compiled(compilation.closure) }
    : { ok: false, errors: formatCompileErrors(compilation.errors) };
}

function compiled(closure: CompiledWorkflowClosure): CompiledWorkflow {
  const template = closure.primary?.template;
  const { bytes, digest } = digestOf(CompiledWorkflowClosureSchema, closure);
  const typedInterface = digestOf(TypedInterfaceSchema, template?.interface ?? create(TypedInterfaceSchema)).bytes;
  return { bytes, digest, typedInterface, nodes: template?.nodes.length ?? 0, expansion: closureExpansion(closure) };
}
