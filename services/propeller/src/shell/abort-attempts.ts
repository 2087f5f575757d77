import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { encodeMessage, shardOf, taskRequestSubject } from "@flyte-ts/domain";
import { DesiredState, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import type { Bus } from "@flyte-ts/messaging";
import { API_VERSION, OWNER_KIND } from "@flyte-ts/workflow-crd";
import type { AsLongAs } from "./event-sink/event-sink.js";

export interface AbortAttempts {
  readonly bus: Pick<Bus, "publish">;
  /** Of the resource that owns the attempts. */
  readonly meta: KubeObject["metadata"];
  /** Plugin services of these types are asked. */
  readonly taskTypes: Iterable<string>;
  readonly reason: string;
  /** ms. */
  readonly now: number;
}

/**
 * Asks plugin services to abort all attempts that a resource owns, for one whose status does not name them any more. Resolves when the
 * requests are stored on the bus, so that a resource may be released after it. A repeat changes nothing.
 *
 * @throws as `publish` of the bus does.
 */
export async function abortAttempts({ bus, meta, taskTypes, reason, now }: AbortAttempts, asLongAs: AsLongAs): Promise<void> {
  const { namespace = "", name, uid } = meta;
  // Nothing can name a resource without a uid as its owner.
  if (uid === undefined) return;
  const shard = shardOf(name);
  const request = create(TaskRequestSchema, {
    desired: DesiredState.ABORT_ALL,
    workflowKey: `${namespace}/${name}`,
    namespace,
    owner: { apiVersion: API_VERSION, kind: OWNER_KIND, name, uid },
    shard,
    requestedAt: timestampFromMs(now),
    abortReason: reason,
  });
  const data = encodeMessage(TaskRequestSchema, request);
  await Promise.all(Array.from(taskTypes, (taskType) => bus.publish(taskRequestSubject(taskType, shard), data, asLongAs)));
}
