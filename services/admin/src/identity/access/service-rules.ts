import { publicRule, readRule, type RulesOf, authenticatedRule, writeRule } from "@flyte-ts/auth";
import { parseFlyteUrl } from "@flyte-ts/domain/identifier";
import type { AgentMetadataService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import type { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import type { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import type { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import type { MyAccessService } from "@flyte-ts/idl/flytets/admin/v1/my_access_pb";
import { SignalSetRequestSchema } from "@flyte-ts/idl/flyteidl/admin/signal_pb";
import type { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import type { IdentityConfig } from "../config.js";
import { type ObjectsConfig, ownerOfObject } from "./native-url.js";
import { offloadedPermissions } from "./references.js";
import { anyProject, projectScope, allProjects } from "./scope.js";

/** Permissions of the calls of DataProxyService. */
export function dataProxyRules(config: Pick<IdentityConfig, "storage" | "dataProxy">): RulesOf<typeof DataProxyService> {
  return {
    // An organization or a slash moves the upload out of the project's folder, so such a request
    // needs the role in all projects.
    createUploadLocation: writeRule("runner", (request) =>
      request.org === "" && !`${request.project}${request.domain}`.includes("/") ? projectScope(request) : allProjects,
    ),
    createDownloadLocation: readRule("viewer", ({ nativeUrl }) => ownerOfObject(nativeUrl, config)),
    createDownloadLink: readRule("viewer", ({ source }) =>
      projectScope(source.case === "nodeExecutionId" ? source.value.executionId : undefined),
    ),
    getData: readRule("viewer", ({ flyteUrl }) => projectScope(parseFlyteUrl(flyteUrl))),
  };
}

/** Permissions of the calls of SignalService. */
export const signalRules = (config: ObjectsConfig): RulesOf<typeof SignalService> => ({
  getOrCreateSignal: writeRule("runner", ({ id }) => projectScope(id?.executionId)),
  listSignals: readRule("viewer", ({ workflowExecutionId }) => projectScope(workflowExecutionId)),
  setSignal: writeRule(
    "runner",
    ({ id }) => projectScope(id?.executionId),
    (request) => offloadedPermissions(SignalSetRequestSchema, request, config),
  ),
});

/** Login metadata is public. */
export const authMetadataRules: RulesOf<typeof AuthMetadataService> = { getOAuth2Metadata: publicRule, getPublicClientConfig: publicRule };

/** Every authenticated caller may read its own identity. */
export const identityRules: RulesOf<typeof IdentityService> = { userInfo: authenticatedRule };

/** Every authenticated caller may read its own rights, and none of other callers. */
export const myAccessRules: RulesOf<typeof MyAccessService> = { getMyAccess: authenticatedRule };

/** The list of connectors needs any role. */
export const agentRules: RulesOf<typeof AgentMetadataService> = {
  getAgent: readRule("viewer", () => anyProject),
  listAgents: readRule("viewer", () => anyProject),
};
