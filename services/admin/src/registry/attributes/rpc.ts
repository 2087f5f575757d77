import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  MatchableResource,
  type WorkflowExecutionConfig,
  type WorkflowExecutionConfigSchema,
} from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import type { AttributeService } from "@flyte-ts/idl/flytets/admin/v1/attributes_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { RegistryDeps } from "../deps.js";
import { type ConfigSource, configuredDefaults, mergeSettings, namesIdentity } from "../execution-config/merge-config.js";
import { checkName, invalidArgument, missingArgument, notFound } from "../../platform/index.js";
import { requireActive, requireActiveProject, requireProject } from "../project/require.js";
import { type AttributeScope, findAttributes, listAttributes, listScopeAttributes } from "../store/attribute-lookup.js";
import { deleteAttributes, kindOf, storeAttributes } from "../store/attributes.js";

/** Attributes of one answer. */
const MAX_ATTRIBUTES = 200;

type Rpcs = ServiceImplementation<typeof AdminService>;
type Deps = Pick<RegistryDeps, "db" | "config" | "clock" | "onScopeChanged">;

/** Attributes of projects, domains and workflows. */
export function attributeRpcs(deps: Deps): Rpcs {
  return { ...projectLevel(deps), ...domainLevel(deps), ...workflowLevel(deps), ...list(deps) };
}

/** Attributes of all kinds in a project and domain. */
export function scopeAttributeRpcs({ db }: Pick<RegistryDeps, "db">): ServiceImplementation<typeof AttributeService> {
  return {
    async listAttributes({ project, domain }) {
      checkName(project, "project");
      checkName(domain, "domain");
      const stored = await listScopeAttributes(db, { project, domain }, MAX_ATTRIBUTES + 1);
      return { configurations: stored.slice(0, MAX_ATTRIBUTES), truncated: stored.length > MAX_ATTRIBUTES };
    },
  };
}

function projectLevel(deps: Deps): Rpcs {
  const { db, config, clock } = deps;
  return {
    async updateProjectAttributes({ attributes }) {
      if (attributes === undefined) throw missingArgument("attributes");
      const { project, matchingAttributes } = attributes;
      requireActive(await requireProject(db, project));
      const kind = kindOf(matchingAttributes);
      if (matchingAttributes) await storeAttributes(db, { kind, scope: { project }, attributes: matchingAttributes, now: clock() });
      await enqueueClusterSync(deps, kind, { project });
      return {};
    },

    /**
     * Reads this level only, also of an archived project. Completes execution settings with the
     * configured ones.
     */
    async getProjectAttributes({ project, resourceType: kind }) {
      await requireProject(db, project);
      const found = await findAttributes(db, kind, { project });
      if (kind !== MatchableResource.WORKFLOW_EXECUTION_CONFIG) {
        if (found === undefined) throw attributesNotFound(kind, { project });
        return { attributes: { project, matchingAttributes: found.attributes } };
      }
      const own = found?.attributes.target.case === "workflowExecutionConfig" ? found.attributes.target.value : undefined;
      const value = withDefaults(own, configuredDefaults(config.executionDefaults));
      return { attributes: { project, matchingAttributes: { target: { case: "workflowExecutionConfig", value } } } };
    },

    async deleteProjectAttributes({ project, resourceType: kind }) {
      requireActive(await requireProject(db, project));
      await deleteAttributes(db, kind, { project });
      await enqueueClusterSync(deps, kind, { project });
      return {};
    },
  };
}

function domainLevel(deps: Deps): Rpcs {
  const { db, config, clock } = deps;
  return {
    async updateProjectDomainAttributes({ attributes }) {
      if (attributes === undefined) throw missingArgument("attributes");
      const { project, domain, matchingAttributes } = attributes;
      await requireActiveProject({ db, config }, project, domain);
      const kind = kindOf(matchingAttributes);
      if (matchingAttributes) await storeAttributes(db, { kind, scope: { project, domain }, attributes: matchingAttributes, now: clock() });
      await enqueueClusterSync(deps, kind, { project, domain });
      return {};
    },

    /** Reads this level, else the project; the response names the level found. */
    async getProjectDomainAttributes({ project, domain, resourceType: kind }) {
      await requireActiveProject({ db, config }, project, domain);
      const found = await findAttributes(db, kind, { project, domain });
      if (found === undefined) throw attributesNotFound(kind, { project, domain });
      return { attributes: { project: found.project, domain: found.domain, matchingAttributes: found.attributes } };
    },

    async deleteProjectDomainAttributes({ project, domain, resourceType: kind }) {
      await requireActiveProject({ db, config }, project, domain);
      await deleteAttributes(db, kind, { project, domain });
      await enqueueClusterSync(deps, kind, { project, domain });
      return {};
    },
  };
}

function workflowLevel(deps: Deps): Rpcs {
  const { db, config, clock } = deps;
  return {
    async updateWorkflowAttributes({ attributes }) {
      if (attributes === undefined) throw missingArgument("attributes");
      const { project, domain, workflow, matchingAttributes } = attributes;
      await requireActiveProject({ db, config }, project, domain);
      checkName(workflow, "name of the workflow");
      const kind = kindOf(matchingAttributes);
      const scope = { project, domain, workflow };
      if (matchingAttributes) await storeAttributes(db, { kind, scope, attributes: matchingAttributes, now: clock() });
      return {};
    },

    /** Reads this level, else the next less specific one; the response names the level found. */
    async getWorkflowAttributes({ project, domain, workflow, resourceType: kind }) {
      await requireActiveProject({ db, config }, project, domain);
      checkName(workflow, "name of the workflow");
      const found = await findAttributes(db, kind, { project, domain, workflow });
      if (found === undefined) throw attributesNotFound(kind, { project, domain, workflow });
      const { attributes: matchingAttributes, ...level } = found;
      return { attributes: { project: level.project, domain: level.domain, workflow: level.workflow, matchingAttributes } };
    },

    async deleteWorkflowAttributes({ project, domain, workflow, resourceType: kind }) {
      await requireActiveProject({ db, config }, project, domain);
      checkName(workflow, "name of the workflow");
      await deleteAttributes(db, kind, { project, domain, workflow });
      return {};
    },
  };
}

/** Enqueues a sync of the project's cluster resources after a change of their attributes. */
async function enqueueClusterSync({ onScopeChanged }: Deps, kind: MatchableResource, scope: AttributeScope): Promise<void> {
  if (kind === MatchableResource.CLUSTER_RESOURCE) await onScopeChanged?.(scope);
}

function list({ db }: Deps): Rpcs {
  return {
    async listMatchableAttributes({ resourceType: kind }) {
      if (MatchableResource[kind] === undefined) throw invalidArgument(`invalid value for resource_type: ${kind} is unknown`);
      return { configurations: [...(await listAttributes(db, kind))] };
    },
  };
}

/** Merges the settings of a project with the configured defaults. */
function withDefaults(
  own: WorkflowExecutionConfig | undefined,
  defaults: ConfigSource,
): MessageInitShape<typeof WorkflowExecutionConfigSchema> {
  const securityContext = own?.securityContext ?? (namesIdentity(defaults.securityContext) ? defaults.securityContext : undefined);
  return {
    ...mergeSettings(own === undefined ? [defaults] : [own, defaults]),
    ...(securityContext && { securityContext }),
    executionEnvAssignments: own?.executionEnvAssignments ?? [],
  };
}

function attributesNotFound(kind: MatchableResource, { project, domain = "", workflow = "" }: AttributeScope): Error {
  const name = MatchableResource[kind] ?? String(kind);
  // Same text as Flyte 1.16, since some clients compare it. No call names a launch plan.
  return notFound(`Resource [{Project:${project} Domain:${domain} Workflow:${workflow} LaunchPlan: ResourceType:${name}}] not found`);
}
