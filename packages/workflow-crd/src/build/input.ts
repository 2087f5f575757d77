import type { PluginOverride } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import type { RawOutputDataConfig } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { KeyValuePair, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { SecurityContext } from "@flyte-ts/idl/flyteidl/core/security_pb";
import type { PlatformResources } from "../model/model.js";

/** Source of a FlyteWorkflow resource: one execution, its settings merged, its inputs complete. */
export interface BuildInput {
  readonly executionId: WorkflowExecutionIdentifier;
  /** Namespace of the resource; the default is `{project}-{domain}`. */
  readonly namespace?: string | undefined;
  readonly closure: CompiledWorkflowClosure;
  readonly inputs: LiteralMap;
  /** The user's labels; system labels override them. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly acceptedAt: Date;
  /** Empty leaves it to the security context, then to the namespace. */
  readonly serviceAccountName: string;
  readonly securityContext?: SecurityContext | undefined;
  readonly rawOutputDataConfig?: RawOutputDataConfig | undefined;
  /** Maximum of concurrent task, array and launch-plan nodes; 0 means no limit. */
  readonly maxParallelism: number;
  readonly interruptible?: boolean | undefined;
  readonly overwriteCache: boolean;
  readonly environment: readonly KeyValuePair[];
  readonly resources: PlatformResources;
  readonly taskPluginOverrides: readonly PluginOverride[];
  /** Execution whose finished nodes are reused. */
  readonly recoveryExecution?: WorkflowExecutionIdentifier | undefined;
  readonly consoleUrl?: string | undefined;
  /**
   * URI of the closure in the blob store; the resource then omits spec, tasks and sub-workflows.
   */
  readonly closureReference?: string | undefined;
  /** URI of the inputs in the blob store; the resource then omits them. */
  readonly inputsReference?: string | undefined;
}
