import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { CompletedExecution } from "../model/completed-execution.js";
import { phaseNames } from "../../executions/index.js";

const timeText = (ns: bigint | undefined): string | null => (ns === undefined ? null : new Date(Number(ns / 1_000_000n)).toISOString());

const named = (id: Identifier | undefined) =>
  id === undefined ? null : { project: id.project, domain: id.domain, name: id.name, version: id.version };

/**
 * Body of a signed webhook: `type`, `timestamp` and `data`, according to Standard Webhooks.
 * Contains no inputs and outputs.
 */
export function webhookEvent(execution: CompletedExecution): string {
  const { project, domain, name, phase, workflow, launched, principal, labels, error, abort } = execution;
  const phaseName = phaseNames.workflowPhaseName(phase);
  return JSON.stringify({
    type: `execution.${phaseName.toLowerCase()}`,
    timestamp: timeText(execution.endedNs),
    data: {
      execution: { project, domain, name },
      phase: phaseName,
      workflow: named(workflow),
      launched: named(launched),
      principal,
      labels,
      createdAt: timeText(execution.acceptedNs),
      startedAt: timeText(execution.startedNs),
      endedAt: timeText(execution.endedNs),
      error: error ?? null,
      abort: abort ?? null,
    },
  });
}
