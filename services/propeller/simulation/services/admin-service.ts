import { booleanLiteral, integerLiteral } from "@flyte-ts/domain/literal";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionCreateRequest } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { ParsedWorkflow } from "@flyte-ts/workflow-crd";
import type { ChildExecution } from "../../src/engine/calls/admin.js";
import type { CallResult, Call, CallOf } from "../../src/engine/calls/call.js";
import { buildWorkflow, DYNAMIC, type WorkflowSpec } from "../fixtures/workflow.js";
import type { Invariant } from "../invariants.js";
import type { Random } from "../random.js";
import type { Schedule } from "../world/schedule.js";

/** Planted mistakes of admin. */
export type AdminBug =
  /** Reports that an execution has ended when its termination is requested. */
  "pretendsStopped";

export type Wake = { readonly nodeId: string } | { readonly signalId: string };

/** Admin's view of an execution. */
export interface ServedExecution {
  readonly name: string;
  readonly phase: WorkflowExecution_Phase;
  readonly terminal: boolean;
  /** True when the resource has ended as well, so that nothing follows. */
  readonly isOver: boolean;
  /** True while the resource shows running nodes. */
  readonly inProgress: boolean;
  readonly outputs: LiteralMap | undefined;
  readonly counts: { readonly crashes: number; readonly reloads: number; readonly repairs: number; readonly slices: number };
  stop(why: string): void;
  wake(subject: Wake): void;
  checkFinalState(): void;
}

export interface AdminServiceOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly spec: WorkflowSpec;
  readonly bug: string | undefined;
  readonly violate: (invariant: Invariant, text: string) => void;
  /** Creates the resource of an execution. */
  readonly start: (name: string, workflow: ParsedWorkflow) => ServedExecution;
}

interface Parent {
  readonly execution: string;
  readonly node: string;
}

/**
 * The part of admin that nodes call: executions of launch plans, signals, and graphs that tasks
 * produced.
 */
export class AdminService {
  readonly #executions = new Map<string, ServedExecution>();
  readonly #parents = new Map<string, Parent>();
  readonly #signals = new Map<string, Literal | undefined>();

  constructor(private readonly options: AdminServiceOptions) {}

  get all(): readonly ServedExecution[] {
    return [...this.#executions.values()];
  }

  add(execution: ServedExecution, parent: Parent | undefined): void {
    this.#executions.set(execution.name, execution);
    if (parent !== undefined) this.#parents.set(execution.name, parent);
  }

  childrenOf(name: string): readonly ServedExecution[] {
    return this.all.filter((execution) => this.#parents.get(execution.name)?.execution === name);
  }

  /** Notes that the end of an execution is in the database. */
  ended(name: string): void {
    const parent = this.#parents.get(name);
    if (parent !== undefined) this.#executions.get(parent.execution)?.wake({ nodeId: parent.node });
  }

  answer(question: Call): CallResult {
    switch (question.kind) {
      case "createExecution":
        return this.#create(question.request);
      case "readExecution": {
        const execution = this.#executions.get(question.id.name);
        if (execution === undefined) return { kind: "refused", code: "NOT_FOUND", message: question.id.name };
        return { kind: "value", value: childOf(execution) };
      }
      case "terminateExecution":
        return this.#terminate(question);
      case "awaitSignal":
        return this.#signal(question);
      case "readDynamic":
        return this.#dynamic(question);
      default:
        return { kind: "refused", code: "UNIMPLEMENTED", message: "not in this world" };
    }
  }

  #create(request: ExecutionCreateRequest): CallResult {
    const parent = request.spec?.metadata?.parentNodeExecution;
    const parentName = parent?.executionId?.name ?? "";
    if (this.#executions.has(request.name)) return { kind: "value", value: "exists" };
    if (this.#executions.get(parentName)?.inProgress !== true)
      this.options.violate("noOrphans", `child ${request.name} is created while its parent ${parentName} does not run`);
    const plan = this.options.spec.launchPlans?.[request.spec?.launchPlan?.name ?? ""];
    if (plan === undefined) return { kind: "refused", code: "NOT_FOUND", message: "no such launch plan" };
    const { model, ...rest } = buildWorkflow({ ...plan, name: request.name });
    const workflow = { ...rest, model: { ...model, inputs: request.inputs ?? model.inputs } };
    this.add(this.options.start(request.name, workflow), { execution: parentName, node: parent?.nodeId ?? "" });
    return { kind: "value", value: "created" };
  }

  #terminate({ id, cause }: CallOf<"terminateExecution">): CallResult {
    const execution = this.#executions.get(id.name);
    if (execution === undefined) return { kind: "value", value: "none" };
    if (execution.terminal || this.options.bug === "pretendsStopped") return { kind: "value", value: "ended" };
    execution.stop(cause);
    return { kind: "value", value: "requested" };
  }

  /** Simulates a signal that a client sets some time after its creation, or never. */
  #signal({ id, type }: CallOf<"awaitSignal">): CallResult {
    const { schedule, random } = this.options;
    const execution = id.executionId?.name ?? "";
    const key = `${execution}/${id.signalId}`;
    if (!this.#signals.has(key)) {
      this.#signals.set(key, undefined);
      const yesOrNo = type?.type.case === "simple" && type.type.value === SimpleType.BOOLEAN;
      const value = yesOrNo ? booleanLiteral(random.chance(0.85)) : integerLiteral(BigInt(random.int(10)));
      if (random.chance(0.9)) {
        schedule.after(random.between(0, random.pick([10, 5_000, 60_000])), () => {
          this.#signals.set(key, value);
          this.#executions.get(execution)?.wake({ signalId: id.signalId });
        });
      }
    }
    return { kind: "value", value: this.#signals.get(key) };
  }

  /** The spec of an attempt is the same at each read. */
  #dynamic({ parent, attemptDir }: CallOf<"readDynamic">): CallResult {
    const graph = this.options.spec.dynamics?.[parent.type.slice(DYNAMIC.length)];
    if (graph === undefined || attemptDir.endsWith("made-badly"))
      return { kind: "refused", code: "INVALID_ARGUMENT", message: "malformed" };
    const { root, tasks, subWorkflows } = buildWorkflow({ main: graph, graphs: this.options.spec.graphs ?? {} }).model;
    return { kind: "value", value: { model: { root, tasks, subWorkflows }, closure: undefined } };
  }
}

function childOf({ phase, outputs, terminal }: ServedExecution): ChildExecution {
  if (!terminal) return { phase: "running" };
  switch (phase) {
    case WorkflowExecution_Phase.SUCCEEDED:
      return { phase: "succeeded", outputs };
    case WorkflowExecution_Phase.FAILED:
      return { phase: "failed", error: { code: "USER:Child", kind: "USER", message: "the child failed" } };
    default:
      return { phase: "aborted" };
  }
}
