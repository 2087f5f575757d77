import type { ExecutionCreateRequest } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { SignalIdentifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";

/** What nodes ask admin, as any client would. */
export interface AdminQuestions {
  /** Creates a child execution. The name is derived from node and attempt: one that exists already is the same. */
  readonly createExecution: { readonly fields: { readonly request: ExecutionCreateRequest }; readonly value: "created" | "exists" };
  readonly readExecution: { readonly fields: { readonly id: WorkflowExecutionIdentifier }; readonly value: ChildExecution };
  /** Asks for an execution to stop; that it has ended already, or never was, is as good. */
  readonly terminateExecution: {
    readonly fields: { readonly id: WorkflowExecutionIdentifier; readonly cause: string };
    readonly value: "asked" | "ended" | "none";
  };
  /** The value of a signal, undefined while it has none; the signal is made when it is not there. */
  readonly awaitSignal: {
    readonly fields: { readonly id: SignalIdentifier; readonly type: LiteralType | undefined };
    readonly value: Literal | undefined;
  };
}

/** How an execution stands. */
export type ChildExecution =
  | { readonly phase: "running" }
  /** `outputs` by value; undefined when the workflow gives none. */
  | { readonly phase: "succeeded"; readonly outputs: LiteralMap | undefined }
  | { readonly phase: "failed"; readonly error: ExecutionErrorJson | undefined }
  | { readonly phase: "aborted" }
  | { readonly phase: "timedOut" };
