import type { Resources } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type BuildPodOptions, buildPodSpec, objectMeta, OPERATOR_JOB_LABEL, type PodSpec } from "@flyte-ts/pod-task";
import { withPrimary } from "./containers.js";
import { replaceResources } from "./replace-resources.js";

/** Pod of one role of a job: the base pod of the task, for an operator's template. */
export interface RolePod {
  readonly spec: PodSpec;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly primaryContainer: string;
}

export interface RoleOptions {
  /** False: the pod does not run on interruptible nodes. Default: as the node of the workflow. */
  readonly interruptible?: boolean;
  /** Replaces the image of the primary container; empty: that of the task. */
  readonly image?: string | undefined;
  /** Replace the resources of the primary container, if they name any. */
  readonly resources?: Resources | undefined;
  /** Name of the primary container. Default: as in the task. */
  readonly containerName?: string;
}

/** Builds the pods of a job's roles from the request. */
export class RolePodBuilder {
  constructor(
    private readonly request: TaskRequest,
    private readonly options: BuildPodOptions,
    /** Name of the job's resource. */
    readonly jobName: string,
  ) {}

  /** Resource name of GPUs in this cluster. */
  get gpuResourceName(): string {
    return this.options.config.scheduling.gpu.resourceName;
  }

  /**
   * Builds the pod of a role: the pod that the pod plugin would build for the task, with the role's
   * changes.
   *
   * @throws InvalidPodSpecError, TemplateError, QuantityError
   */
  build({ interruptible = true, image = "", resources, containerName }: RoleOptions = {}): RolePod {
    const request = replaceResources(
      { ...this.request, interruptible: this.request.interruptible && interruptible },
      resources,
      this.gpuResourceName,
    );
    const built = buildPodSpec(request, this.options);
    const spec = withPrimary(built.spec, built.primaryContainer, (container) => ({
      ...container,
      ...(image === "" ? {} : { image }),
      ...(containerName === undefined ? {} : { name: containerName }),
    }));
    const { labels = {}, annotations = {} } = objectMeta(request, built, this.options.config.metadata);
    return {
      spec,
      labels: { ...labels, [OPERATOR_JOB_LABEL]: this.jobName },
      annotations,
      primaryContainer: containerName ?? built.primaryContainer,
    };
  }
}
