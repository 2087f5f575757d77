import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { BoundedMap } from "@flyte-ts/async";
import { isTerminalNodeEvent, isTerminalTaskEvent, isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { NodeExecutionEvent, TaskExecutionEvent, WorkflowExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { type ExecutionId, randomSpanId, type SpanSink, spanIdOf, traceIdOf } from "@flyte-ts/telemetry";

/** Running parts of an execution, with the time of their first event. */
interface OpenTrace {
  readonly traceId: string;
  /** Keyed by part, see `spanIdOf`. */
  readonly starts: Map<string, number>;
}

/** Maximum of running executions that are traced. */
const MAX_OPEN_TRACES = 20_000;

const WORKFLOW = "workflow";
const nodePart = (nodeId: string) => `node/${nodeId}`;

/**
 * Derives one trace per execution from its events: spans of the workflow, of its nodes below it or
 * below the node that created them, of attempts, and of status writes. The span of a part that
 * started before this process begins at its first non-terminal event here.
 */
export class ExecutionSpans {
  /** Bounded, since executions that moved to another process never end here. */
  readonly #open = new BoundedMap<string, OpenTrace>(MAX_OPEN_TRACES);

  constructor(private readonly sink: SpanSink) {}

  /** Handles a published workflow or node event. */
  onEvent(key: string, { event }: ExecutionEvent): void {
    switch (event.case) {
      case "workflow":
        return this.#workflow(key, event.value);
      case "node":
        return this.#node(key, event.value);
      case "task":
        return this.onTaskEvent(key, event.value);
      case "notice":
      case undefined:
    }
  }

  onTaskEvent(key: string, event: TaskExecutionEvent): void {
    const node = event.parentNodeExecutionId;
    const trace = this.#open.get(key);
    if (node?.executionId === undefined || trace === undefined) return;
    const part = `attempt/${node.nodeId}/${event.retryAttempt}`;
    const at = timeOf(event.occurredAt);
    if (!isTerminalTaskEvent(event.phase)) return begin(trace, part, at);
    this.#end(trace, part, {
      name: `attempt ${event.retryAttempt}`,
      parent: nodePart(node.nodeId),
      end: at,
      attributes: {
        "flyte.node": node.nodeId,
        "flyte.attempt": event.retryAttempt,
        "flyte.task_type": event.taskType,
        "flyte.phase": TaskExecution_Phase[event.phase],
      },
      failure: failureOf(event),
    });
  }

  /** Handles a status write of a running execution. */
  onStatusWrite(key: string, { start, end, outcome }: { readonly start: number; readonly end: number; readonly outcome: string }): void {
    const trace = this.#open.get(key);
    if (trace === undefined) return;
    this.sink.record({
      traceId: trace.traceId,
      spanId: randomSpanId(),
      parentSpanId: spanIdOf(trace.traceId, WORKFLOW),
      name: "status write",
      start,
      end,
      attributes: { "flyte.outcome": outcome },
    });
  }

  #workflow(key: string, event: WorkflowExecutionEvent): void {
    const id = event.executionId;
    if (id === undefined) return;
    const at = timeOf(event.occurredAt);
    if (!isTerminalWorkflowEvent(event.phase)) return begin(this.#traceOf(key, id), WORKFLOW, at);
    const trace = this.#open.get(key);
    // Terminal events repeat until they are recorded, so the trace may have ended already.
    if (trace === undefined) return;
    this.#end(trace, WORKFLOW, {
      name: id.name,
      parent: undefined,
      end: at,
      attributes: {
        "flyte.project": id.project,
        "flyte.domain": id.domain,
        "flyte.execution": id.name,
        "flyte.phase": WorkflowExecution_Phase[event.phase],
      },
      failure: failureOf(event),
    });
    this.#open.delete(key);
  }

  #node(key: string, event: NodeExecutionEvent): void {
    const id = event.id;
    if (id?.executionId === undefined) return;
    const trace = this.#open.get(key);
    if (trace === undefined) return;
    const part = nodePart(id.nodeId);
    const at = timeOf(event.occurredAt);
    if (!isTerminalNodeEvent(event.phase)) return begin(trace, part, at);
    const above = event.parentNodeMetadata?.nodeId;
    this.#end(trace, part, {
      name: event.nodeName || event.specNodeId || id.nodeId,
      parent: above === undefined ? WORKFLOW : nodePart(above),
      end: at,
      attributes: { "flyte.node": id.nodeId, "flyte.phase": NodeExecution_Phase[event.phase] },
      failure: failureOf(event),
    });
  }

  #traceOf(key: string, id: ExecutionId): OpenTrace {
    const found = this.#open.get(key);
    if (found !== undefined) return found;
    const made: OpenTrace = { traceId: traceIdOf(id), starts: new Map() };
    this.#open.set(key, made);
    return made;
  }

  /** Records the span of a started part; repeated ends have none. */
  #end(trace: OpenTrace, part: string, facts: EndedSpan): void {
    const start = trace.starts.get(part);
    if (start === undefined) return;
    trace.starts.delete(part);
    const { parent, ...rest } = facts;
    const { traceId } = trace;
    this.sink.record({
      ...rest,
      traceId,
      spanId: spanIdOf(traceId, part),
      parentSpanId: parent === undefined ? undefined : spanIdOf(traceId, parent),
      start,
    });
  }
}

interface EndedSpan {
  readonly name: string;
  readonly parent: string | undefined;
  readonly end: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly failure: string | undefined;
}

function begin({ starts }: OpenTrace, part: string, at: number): void {
  if (!starts.has(part)) starts.set(part, at);
}

function timeOf(time: Timestamp | undefined): number {
  return time === undefined ? 0 : timestampMs(time);
}

function failureOf({ outputResult }: WorkflowExecutionEvent | NodeExecutionEvent | TaskExecutionEvent): string | undefined {
  return outputResult.case === "error" ? `${outputResult.value.code}: ${outputResult.value.message.slice(0, 500)}` : undefined;
}
