import { checkLiterals } from "@flyte-ts/domain/literal";
import {
  type ExecutionCreateRequest,
  ExecutionMetadata_ExecutionMode,
  type ExecutionSpec,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ExecutionsDeps } from "../deps.js";
import { checkIdentifier, checkLabels, checkText, invalidArgument, missingArgument, resourceTypeName } from "../../platform/index.js";
import { checkNotifications, type FoundProject, requireActiveProject } from "../../registry/index.js";

/** Maximum length of a Kubernetes label value, since the name becomes one. */
const MAX_NAME = 63;
const NAME = /^[a-z][a-z\-0-9]*$/;

export interface CheckedRequest {
  readonly project: FoundProject;
  readonly spec: ExecutionSpec;
  /** A task or a launch plan. */
  readonly entity: Identifier;
}

/** @throws RpcError INVALID_ARGUMENT naming the field and the rule. */
export async function checkCreateRequest(
  deps: Pick<ExecutionsDeps, "db" | "config">,
  request: ExecutionCreateRequest,
): Promise<CheckedRequest> {
  checkText(request.project, "project");
  checkText(request.domain, "domain");
  checkName(request.name);
  const project = await requireActiveProject(deps, request.project, request.domain);
  const { spec } = request;
  if (spec === undefined) throw missingArgument("spec");
  const entity = spec.launchPlan;
  checkIdentifier(entity);
  if (entity.resourceType !== ResourceType.LAUNCH_PLAN && entity.resourceType !== ResourceType.TASK) {
    throw invalidArgument(
      `Invalid reference entity resource type [${resourceTypeName(entity.resourceType)}], only TASK and LAUNCH_PLAN are allowed`,
    );
  }
  const [badInput] = checkLiterals(request.inputs);
  if (badInput !== undefined) throw invalidArgument(badInput.message);
  checkNotifications(spec.notificationOverrides.case === "notifications" ? spec.notificationOverrides.value.notifications : []);
  checkLabels(spec.labels);
  checkRecovery(request);
  return { project, spec, entity };
}

/**
 * Outputs of the recovered execution become those of this one, so a role in another project must
 * not reach them.
 */
function checkRecovery({ project, domain, spec }: ExecutionCreateRequest): void {
  const { mode, referenceExecution: recovered } = spec?.metadata ?? {};
  if (mode !== ExecutionMetadata_ExecutionMode.RECOVERED || recovered === undefined) return;
  if (recovered.project !== project || recovered.domain !== domain)
    throw invalidArgument("spec.metadata.reference_execution: an execution recovers one of its own project and domain");
}

/**
 * An empty name requests a generated one. As in Flyte, upper-case letters are accepted here;
 * Kubernetes will reject them.
 */
function checkName(name: string): void {
  if (name === "") return;
  if (name.length > MAX_NAME) throw invalidArgument(`size of name exceeded length ${MAX_NAME} : ${name}`);
  if (!NAME.test(name.toLowerCase())) throw invalidArgument(`invalid name format: ${name}, does not match regex '${NAME.source}'`);
}
