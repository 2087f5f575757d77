import type { ResourceListRequest } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { checkText } from "../identifiers.js";
import { missingArgument } from "../rpc-errors.js";
import type { ListRequest } from "./plan.js";

/**
 * Lists the versions of one name, or of a project and domain when the name is empty.
 *
 * @throws RpcError INVALID_ARGUMENT.
 */
export function resourceListRequest(rpc: string, { id, limit, token, filters, sortBy }: ResourceListRequest): ListRequest {
  if (id === undefined) throw missingArgument("id");
  checkText(id.project, "project");
  checkText(id.domain, "domain");
  return { rpc, limit, token, filters, sortBy, equal: { project: id.project, domain: id.domain, name: id.name } };
}
