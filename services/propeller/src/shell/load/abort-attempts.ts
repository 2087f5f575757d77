import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { shardOf } from "@flyte-ts/domain/name";
import { encodeMessage } from "@flyte-ts/proto-codec";
import { DesiredState, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import type { Bus } from "@flyte-ts/messaging";
import { API_VERSION, OWNER_KIND } from "@flyte-ts/workflow-crd";
import type { Fence } from "../event-sink/event-sink.js";

export interface AbortAttemptsOptions {
  readonly bus: Pick<Bus, "publish">;
  /** Metadata of the resource that owns the attempts. */
  readonly meta: KubeObject["metadata"];
  /** Task types whose plugin services get the request. */
  readonly taskTypes: Iterable<string>;
  readonly reason: string;
  /** Folder of the execution; undefined when the resource's labels do not name one. */
  readonly executionDir: string | undefined;
  /** ms. */
  readonly now: number;
}

/**
 * Sends abort requests for all attempts that a resource owns, when its status no longer names them.
 * Resolves when the bus has stored the requests, so that the resource may be released afterwards.
 * Idempotent.
 *
 * @throws as `publish` of the bus does.
 */
export async function abortAttempts(
  { bus, meta, taskTypes, reason, executionDir = "", now }: AbortAttemptsOptions,
  fence: Fence,
): Promise<void> {
  const { namespace = "", name, uid } = meta;
  // Attempts cannot name a resource without a uid as owner.
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
    outputPrefix: executionDir,
  });
  const data = encodeMessage(TaskRequestSchema, request);
  await Promise.all(Array.from(taskTypes, (taskType) => bus.publish(taskRequestSubject(taskType, shard), data, fence)));
}
