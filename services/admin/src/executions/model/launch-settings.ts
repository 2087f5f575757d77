import { fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  type PluginOverride,
  PluginOverrideSchema,
  type WorkflowExecutionConfig,
  WorkflowExecutionConfigSchema,
} from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import {
  type Identifier,
  IdentifierSchema,
  type WorkflowExecutionIdentifier,
  WorkflowExecutionIdentifierSchema,
} from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { toLenientJson } from "@flyte-ts/rpc";
import type { PlacementRequest } from "../../clusters/index.js";
import { rejectNul } from "../../platform/index.js";
import type { PlatformResources } from "../../registry/index.js";

/**
 * Settings resolved when an execution was accepted, stored with its row so that its resource can be
 * built at any time.
 */
export interface LaunchSettings {
  readonly workflow: Identifier;
  readonly config: WorkflowExecutionConfig;
  readonly resources: PlatformResources;
  readonly pluginOverrides: readonly PluginOverride[];
  /** Queue of AWS Batch for the execution's tasks; empty: none. */
  readonly queue: string;
  /** Execution whose successful nodes are reused. */
  readonly recovers?: WorkflowExecutionIdentifier | undefined;
  /** Placement requirements, when there are several clusters. */
  readonly placement?: PlacementRequest | undefined;
  /** Issuer and groups of the principal; undefined without authentication. */
  readonly launcher?: Launcher | undefined;
}

/** Identity of an execution's principal beside the subject, as of its launch. */
export interface Launcher {
  readonly issuer: string;
  readonly groups: readonly string[];
}

interface Stored extends JsonObject {
  workflow: JsonValue;
  config: JsonValue;
  /** Rows of earlier versions lack `defaultLimits`. */
  resources: { defaults: JsonObject; defaultLimits?: JsonObject; limits: JsonObject };
  pluginOverrides: JsonValue[];
  recovers: JsonValue;
  placement: JsonValue;
}

/** @throws RpcError INVALID_ARGUMENT for a NUL character in one of them. */
export function encodeLaunchSettings(settings: LaunchSettings): string {
  const stored: Stored = {
    workflow: toJson(IdentifierSchema, settings.workflow),
    config: toLenientJson(WorkflowExecutionConfigSchema, settings.config),
    resources: storedResources(settings.resources),
    pluginOverrides: settings.pluginOverrides.map((override) => toJson(PluginOverrideSchema, override)),
    recovers: settings.recovers === undefined ? null : toJson(WorkflowExecutionIdentifierSchema, settings.recovers),
    placement: settings.placement === undefined ? null : { ...settings.placement },
    // Most rows need no queue.
    ...(settings.queue !== "" && { queue: settings.queue }),
    ...(settings.launcher && { launcher: { issuer: settings.launcher.issuer, groups: [...settings.launcher.groups] } }),
  };
  rejectNul(stored, "spec");
  return JSON.stringify(stored);
}

function storedResources({ defaults, defaultLimits, limits }: PlatformResources): Stored["resources"] {
  return { defaults: { ...defaults }, ...(defaultLimits && { defaultLimits: { ...defaultLimits } }), limits: { ...limits } };
}

export function decodeLaunchSettings(json: JsonValue): LaunchSettings {
  const stored = json as Stored;
  return {
    workflow: fromJson(IdentifierSchema, stored.workflow),
    config: fromJson(WorkflowExecutionConfigSchema, stored.config),
    resources: stored.resources as unknown as PlatformResources,
    pluginOverrides: stored.pluginOverrides.map((override) => fromJson(PluginOverrideSchema, override)),
    queue: typeof stored.queue === "string" ? stored.queue : "",
    recovers: stored.recovers === null ? undefined : fromJson(WorkflowExecutionIdentifierSchema, stored.recovers),
    // Rows of earlier versions lack the placement.
    placement: (stored.placement ?? undefined) as PlacementRequest | undefined,
  };
}
