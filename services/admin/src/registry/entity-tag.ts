import { createHash } from "node:crypto";
import { isMessage } from "@bufbuild/protobuf";
import { TaskSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { WorkflowSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import type { EntityTag } from "@flyte-ts/rpc";

const TAG_LENGTH = 22;

/**
 * Tags GetTask and GetWorkflow: a registered version never changes. A version that is registered
 * again after its deletion has another time of creation. Launch plans change their state, so they
 * have no tag.
 *
 * @param program version of this program, which may write the same entity differently
 */
export function entityTags(program: string): EntityTag {
  return (method, answer) => {
    const isTask = method.localName === "getTask" && isMessage(answer, TaskSchema);
    const isWorkflow = method.localName === "getWorkflow" && isMessage(answer, WorkflowSchema);
    if (!isTask && !isWorkflow) return undefined;
    const { id, closure } = answer;
    if (id === undefined || closure?.createdAt === undefined) return undefined;
    const { seconds, nanos } = closure.createdAt;
    const parts = [program, method.localName, id.project, id.domain, id.name, id.version, String(seconds), nanos];
    return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, TAG_LENGTH);
  };
}
