import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { FlyteClient } from "@flyte-ts/client";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { StackOnNode } from "./node-fixture.js";
import { NAMESPACE } from "./pod-outcomes.js";

/** Seconds since the execution was created; Kubernetes records whole seconds for pods. */
export type Timeline = Readonly<Record<string, number>>;

interface PodTimes {
  readonly metadata: { readonly name: string; readonly creationTimestamp: string };
  readonly status: { readonly containerStatuses: readonly { state: { terminated?: { startedAt: string; finishedAt: string } } }[] };
}

export async function timelineOf(client: FlyteClient, stack: StackOnNode, { id, closure }: Execution): Promise<Timeline> {
  const origin = ms(closure?.createdAt);
  const line: Record<string, number> = {};
  const note = (what: string, at: number) => {
    line[what] = Math.round((at - origin) / 10) / 100;
  };
  note("started", ms(closure?.startedAt));
  const { nodeExecutions } = await client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 });
  for (const { id: node, closure: its } of nodeExecutions) {
    if (its?.duration === undefined) continue;
    note(`${node?.nodeId} created`, ms(its.createdAt));
    note(`${node?.nodeId} started`, ms(its.startedAt));
    note(`${node?.nodeId} ended`, ms(its.startedAt) + Number(its.duration.seconds) * 1_000 + its.duration.nanos / 1e6);
  }
  const pods = JSON.parse(stack.kubectl("-n", NAMESPACE, "get", "pods", "-l", `execution-id=${id?.name}`, "-o", "json")) as {
    items: PodTimes[];
  };
  for (const { metadata, status } of pods.items) {
    const ended = status.containerStatuses[0]?.state.terminated;
    note(`pod ${metadata.name.split("-").at(-2)} created`, Date.parse(metadata.creationTimestamp));
    note(`pod ${metadata.name.split("-").at(-2)} started`, Date.parse(ended?.startedAt ?? ""));
    note(`pod ${metadata.name.split("-").at(-2)} finished`, Date.parse(ended?.finishedAt ?? ""));
  }
  note("ended", ms(closure?.updatedAt));
  return Object.fromEntries(Object.entries(line).sort(([, a], [, b]) => a - b));
}

function ms(time: Timestamp | undefined): number {
  return time === undefined ? Number.NaN : timestampDate(time).getTime();
}
