import type { JsonObject } from "@bufbuild/protobuf";
import type { Done, Outputs, Reference } from "../graph/reference-type.js";
import type { DurationText } from "../type/duration.js";
import type { AnyType, Fields } from "../type/type.js";

/** An amount of each resource: a number of cores, or a quantity of Kubernetes. */
export interface ResourceAmounts {
  readonly cpu?: number | string;
  readonly memory?: string;
  readonly gpu?: number;
  readonly ephemeralStorage?: string;
}

/** Resources of a container; requests equal limits unless both are given. */
export type Resources =
  | (ResourceAmounts & ExtendedResources)
  | ({ readonly request?: ResourceAmounts; readonly limit?: ResourceAmounts } & ExtendedResources);

export interface ExtendedResources {
  /** Kind of the GPU, as the cluster names it. */
  readonly accelerator?: string | { readonly device: string; readonly partition?: string };
  /** Size of /dev/shm, such as `2Gi`; `true` for as much as the node allows. */
  readonly sharedMemory?: string | true;
}

export interface SecretRequest {
  readonly group: string;
  readonly key?: string;
  readonly as?: "file" | "env";
}

export interface CacheSettings {
  /** Default: a hash of the code of the task. */
  readonly version?: string;
  readonly ignoredInputs?: readonly string[];
  /** Calls with equal inputs wait for the first one. */
  readonly serialize?: boolean;
}

/** A pod template of the cluster by name, or parts of a pod whose main container is `primary`. */
export type PodTemplate =
  | string
  | {
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
      readonly spec: JsonObject;
    };

export interface TaskSettings {
  /** Default: path of the module and name of the export, such as `train.fit`. */
  readonly name?: string;
  readonly description?: string;
  readonly retries?: number;
  readonly timeout?: DurationText;
  readonly interruptible?: boolean;
  readonly cache?: boolean | CacheSettings;
  readonly resources?: Resources;
  readonly image?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly secrets?: readonly SecretRequest[];
  readonly podTemplate?: PodTemplate;
  readonly deck?: boolean;
}

/** Interface and settings of a task. */
export interface TaskConfig<I extends Fields, O extends Outputs> extends TaskSettings {
  readonly inputs?: I;
  readonly outputs?: O;
}

/** A node that another one may wait for: a reference, `Done`, or an object of references. */
export type Awaitable = Reference<AnyType> | Done | { readonly [name: string]: Reference<AnyType> };

/** Settings of a node that differ from those of its task, and nodes that it waits for. */
export interface NodeOptions
  extends Pick<TaskSettings, "name" | "retries" | "timeout" | "interruptible" | "resources" | "image" | "podTemplate"> {
  readonly after?: readonly Awaitable[];
  /** Overrides whether the outputs are cached. */
  readonly cache?: boolean;
}
