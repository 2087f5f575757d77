import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { KeyValuePairSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/** Pair of a container's config that names the queue of its jobs in AWS Batch. */
const QUEUE_KEY = "dynamic_queue";

/** Writes the queue into the containers of an encoded workflow that name none. */
export function writeTaskQueue(encoded: Uint8Array, queue: string): Uint8Array {
  const closure = fromBinary(CompiledWorkflowClosureSchema, encoded);
  for (const { template } of closure.tasks) {
    if (template?.target.case !== "container") continue;
    const { config } = template.target.value;
    if (!config.some(({ key }) => key === QUEUE_KEY)) config.push(create(KeyValuePairSchema, { key: QUEUE_KEY, value: queue }));
  }
  return toBinary(CompiledWorkflowClosureSchema, closure);
}
