import { createHash } from "node:crypto";
import { isMessage } from "@bufbuild/protobuf";
import { GraphSchema } from "@flyte-ts/idl/flytets/admin/v1/graph_pb";
import type { EntityTag } from "@flyte-ts/rpc";

const TAG_LENGTH = 22;

/**
 * Tags graphs by the digest of their closure.
 *
 * @param program version of this program, which may write the same graph differently
 */
export function graphTags(program: string): EntityTag {
  return (_, answer) => {
    if (!isMessage(answer, GraphSchema)) return undefined;
    return createHash("sha256").update(program).update("\n").update(answer.digest).digest("base64url").slice(0, TAG_LENGTH);
  };
}
