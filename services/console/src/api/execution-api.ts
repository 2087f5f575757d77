import { pathOf, type RestClient } from "@flyte-ts/client/browser";
import type {
  ExecutionCreateRequestJson,
  ExecutionCreateResponseJson,
  ExecutionJson,
  ExecutionListJson,
  WorkflowExecutionGetDataResponseJson,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { NodeExecutionGetDataResponseJson, NodeExecutionJson } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import type { GetErrorGroupsResponseJson } from "@flyte-ts/idl/flytets/admin/v1/error_groups_pb";
import type { ListNodeAttemptsResponseJson } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import { type ExecutionKey, listParameters, type ListQuery, type Scope } from "./scope.js";

export interface ExecutionApi {
  list(scope: Scope, query: ListQuery, signal: AbortSignal): Promise<ExecutionListJson>;
  get(key: ExecutionKey, signal: AbortSignal): Promise<ExecutionJson>;
  /** Inputs and outputs. */
  getData(key: ExecutionKey, signal: AbortSignal): Promise<WorkflowExecutionGetDataResponseJson>;
  /** Errors of the nodes, grouped. */
  getErrorGroups(key: ExecutionKey, signal: AbortSignal): Promise<GetErrorGroupsResponseJson>;
  getNode(key: ExecutionKey, node: string, signal: AbortSignal): Promise<NodeExecutionJson>;
  /** Inputs and outputs of a node. */
  getNodeData(key: ExecutionKey, node: string, signal: AbortSignal): Promise<NodeExecutionGetDataResponseJson>;
  /** Attempts of a node, without the items of arrays. */
  listAttempts(key: ExecutionKey, node: string, signal: AbortSignal): Promise<ListNodeAttemptsResponseJson>;
  create(request: ExecutionCreateRequestJson): Promise<ExecutionCreateResponseJson>;
  abort(key: ExecutionKey, cause: string): Promise<void>;
  /** Starts a new execution that takes over the nodes that succeeded. */
  recover(key: ExecutionKey): Promise<ExecutionCreateResponseJson>;
  /** Starts a new execution with the same inputs. */
  relaunch(key: ExecutionKey): Promise<ExecutionCreateResponseJson>;
}

export function executionApi(rest: RestClient): ExecutionApi {
  const path = ({ project, domain, name }: ExecutionKey): string => pathOf("api/v1/executions", project, domain, name);
  return {
    list: ({ project, domain }, query, signal) =>
      rest.call(pathOf("api/v1/executions", project, domain), { query: listParameters(query), signal }),
    get: (key, signal) => rest.call(path(key), { signal }),
    getData: ({ project, domain, name }, signal) => rest.call(pathOf("api/v1/data/executions", project, domain, name), { signal }),
    getErrorGroups: ({ project, domain, name }, signal) => rest.call(pathOf("api/v1/error_groups", project, domain, name), { signal }),
    getNode: ({ project, domain, name }, node, signal) =>
      rest.call(pathOf("api/v1/node_executions", project, domain, name, node), { signal }),
    getNodeData: ({ project, domain, name }, node, signal) =>
      rest.call(pathOf("api/v1/data/node_executions", project, domain, name, node), { signal }),
    listAttempts: ({ project, domain, name }, node, signal) =>
      rest.call(pathOf("api/v1/node_attempts", project, domain, name, node), { signal }),
    create: (request) => rest.call("/api/v1/executions", { method: "POST", body: request }),
    abort: async (key, cause) => {
      await rest.call(path(key), { method: "DELETE", body: { cause } });
    },
    recover: (key) => rest.call("/api/v1/executions/recover", { method: "POST", body: { id: key } }),
    relaunch: async (key) => {
      const { spec } = await rest.call<ExecutionJson>(path(key));
      // The call overwrites the cache only if it says so, whatever the execution did.
      return rest.call("/api/v1/executions/relaunch", { method: "POST", body: { id: key, overwriteCache: spec?.overwriteCache === true } });
    },
  };
}
