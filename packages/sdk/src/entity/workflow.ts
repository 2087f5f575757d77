import type { InputRefs, Outputs, Promised } from "../graph/reference-type.js";
import { WORDS as t } from "../type/words.js";
import { type AnyType, type Defaulted, type Fields, type Given, type Plain, withoutDefault } from "../type/type.js";
import type { EntityAddress } from "./definition.js";
import type { AnyEntity, Entity, EntityKind, LaunchPlan, Workflow } from "./entity.js";
import type { LaunchPlanSettings } from "./launch-plan-settings.js";
import { makeEntity } from "./make.js";
import { originOf } from "./origin.js";

/** Inputs of a failure handler: some of the workflow's, with their types, and `err`. */
type HandlerOf<J extends Fields, I extends Fields> = {
  readonly [K in keyof J]: K extends "err" ? AnyType : K extends keyof I ? I[K] : "the workflow has no such input";
};

export interface WorkflowConfig<I extends Fields, O extends Outputs, J extends Fields = {}> {
  readonly name?: string;
  readonly description?: string;
  readonly inputs?: I;
  readonly outputs?: O;
  readonly failurePolicy?: "fail-immediately" | "fail-after-running";
  readonly interruptible?: boolean;
  /** Runs when the workflow fails; gets the inputs that it names, and `err`. */
  readonly onFailure?: Entity<J & HandlerOf<J, I>, Outputs> | (Entity<J, Outputs> & { readonly inputs: HandlerOf<J, I> });
}

/** Makes a workflow; the function builds its graph when it is registered or run. */
/*@__NO_SIDE_EFFECTS__*/
export function workflow<const I extends Fields = {}, const O extends Outputs = undefined, const J extends Fields = {}>(
  config: WorkflowConfig<I, O, J>,
  build: (inputs: InputRefs<I>) => Promised<O>,
): Workflow<I, O> {
  const origin = originOf(workflow);
  const { name, description, inputs, outputs, failurePolicy = "fail-immediately", interruptible } = config;
  const onFailure: AnyEntity | undefined = config.onFailure;
  return makeEntity<Workflow<I, O>>({
    kind: "workflow",
    inputs,
    outputs: outputs as O,
    definition: (entity, own) => ({
      ...own,
      kind: "workflow",
      entity,
      name,
      origin,
      description,
      failurePolicy,
      interruptible,
      onFailure,
      build: build as (inputs: Readonly<Record<string, unknown>>) => unknown,
    }),
  });
}

/** Values of some inputs; names that the workflow lacks are refused. */
type Some<I extends Fields, Values> = Values & { readonly [K in Exclude<keyof Values, keyof I>]: never };

export interface LaunchPlanConfig<I extends Fields, Defaults, Fixed> extends Omit<LaunchPlanSettings, "defaults" | "fixed"> {
  /** Values for callers that give none. */
  readonly defaults?: Some<I, Defaults>;
  /** Values that callers cannot give. */
  readonly fixed?: Some<I, Fixed>;
}

/** Inputs of a launch plan: those that are not fixed; the others may have a default. */
export type PlanInputs<I extends Fields, Defaults, Fixed> = {
  readonly [K in Exclude<keyof I, keyof Fixed>]: K extends keyof Defaults ? Defaulted<Plain<I[K]>> : I[K];
};

/** Makes a launch plan: a workflow with inputs, a schedule and notifications. */
/*@__NO_SIDE_EFFECTS__*/
export function launchPlan<
  I extends Fields,
  O extends Outputs,
  const Defaults extends Partial<Given<I>> = {},
  const Fixed extends Partial<Given<I>> = {},
>(of: Workflow<I, O>, plan: LaunchPlanConfig<NoInfer<I>, Defaults, Fixed>): LaunchPlan<PlanInputs<I, Defaults, Fixed>, O> {
  const origin = originOf(launchPlan);
  const settings = plan as LaunchPlanSettings;
  const { defaults = {}, fixed = {} } = settings;
  const open = Object.entries(of.inputs).filter(([name]) => !Object.hasOwn(fixed, name));
  const inputs = open.map(
    ([name, type]) => [name, defaults[name] === undefined ? type : t.default(withoutDefault(type), defaults[name])] as const,
  );
  return makeEntity<LaunchPlan<PlanInputs<I, Defaults, Fixed>, O>>({
    kind: "launchplan",
    inputs: Object.fromEntries(inputs),
    outputs: of.outputs,
    definition: (entity, own) => ({ ...own, kind: "launchplan", entity, name: plan.name, origin, workflow: of, settings }),
  });
}

/** Refers to a registered entity; `flyte-ts generate` writes such references. */
/*@__NO_SIDE_EFFECTS__*/
export function reference<const I extends Fields, const O extends Outputs>(
  address: EntityAddress & { readonly kind: EntityKind },
  face: { readonly inputs: I; readonly outputs: O },
): Entity<I, O> {
  const origin = originOf(reference);
  return makeEntity<Entity<I, O>>({
    kind: address.kind,
    inputs: face.inputs,
    outputs: face.outputs,
    definition: (entity, own) => ({ ...own, kind: "reference", entity, name: undefined, origin, address }),
  });
}
