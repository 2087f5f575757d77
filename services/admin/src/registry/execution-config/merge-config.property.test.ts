import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ExecutionSpecSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { type WorkflowExecutionConfig, WorkflowExecutionConfigSchema } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { mergeConfig } from "./merge-config.js";

/** Sources of a setting by precedence: the first that has it wins. */
const SIDES = ["request", "launch plan", "workflow", "project", "configuration"] as const;
type Side = (typeof SIDES)[number];

/** How a source sets a setting, and how the merged result shows it. */
interface Setting {
  readonly say: (side: Side) => MessageInitShape<typeof WorkflowExecutionConfigSchema>;
  readonly configure?: object;
  readonly shown: (merged: WorkflowExecutionConfig) => unknown;
  /** Expected result when this source wins; undefined: no source. */
  readonly wanted: (side: Side | undefined) => unknown;
}

const number = (side: Side | undefined): number => (side === undefined ? 0 : SIDES.indexOf(side) + 1);
const map = (side: Side | undefined) => (side === undefined ? undefined : { by: side });
const SETTINGS: Readonly<Record<string, Setting>> = {
  maxParallelism: {
    say: (side) => ({ maxParallelism: number(side) }),
    configure: { maxParallelism: number("configuration") },
    shown: ({ maxParallelism }) => maxParallelism,
    wanted: number,
  },
  labels: {
    say: (side) => ({ labels: { values: { by: side } } }),
    configure: { labels: { by: "configuration" } },
    shown: ({ labels }) => labels?.values,
    wanted: map,
  },
  annotations: {
    say: (side) => ({ annotations: { values: { by: side } } }),
    configure: { annotations: { by: "configuration" } },
    shown: ({ annotations }) => annotations?.values,
    wanted: map,
  },
  envs: {
    say: (side) => ({ envs: { values: [{ key: "by", value: side }] } }),
    configure: { envs: { by: "configuration" } },
    shown: ({ envs }) => envs && Object.fromEntries(envs.values.map(({ key, value }) => [key, value])),
    wanted: map,
  },
  rawOutputDataConfig: {
    say: (side) => ({ rawOutputDataConfig: { outputLocationPrefix: side } }),
    shown: ({ rawOutputDataConfig }) => rawOutputDataConfig?.outputLocationPrefix,
    wanted: (side) => side,
  },
  securityContext: {
    say: (side) => ({ securityContext: { runAs: { k8sServiceAccount: side } } }),
    configure: { k8sServiceAccount: "configuration" },
    shown: ({ securityContext }) => securityContext?.runAs?.k8sServiceAccount,
    wanted: (side) => side ?? "",
  },
};

/** Each setting with the sources that set it. */
const said = fc.record(
  Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, fc.subarray([...SIDES])])) as Record<string, fc.Arbitrary<Side[]>>,
);

function merge(words: Readonly<Record<string, readonly Side[]>>, more: (side: Side) => object = () => ({})): WorkflowExecutionConfig {
  const of = (side: Side) => {
    const parts = Object.entries(SETTINGS).filter(([name]) => words[name]?.includes(side));
    return Object.assign({}, ...parts.map(([, setting]) => setting.say(side)), more(side)) as object;
  };
  const configured = Object.entries(SETTINGS).filter(([name]) => words[name]?.includes("configuration"));
  const { executionDefaults: defaults } = adminConfigSchema.parse({
    executionDefaults: Object.assign({ maxParallelism: 0 }, ...configured.map(([, { configure }]) => configure), more("configuration")),
  });
  return mergeConfig({
    request: create(ExecutionSpecSchema, of("request")),
    launchPlan: create(LaunchPlanSpecSchema, of("launch plan")),
    attributes: [create(WorkflowExecutionConfigSchema, of("workflow")), create(WorkflowExecutionConfigSchema, of("project"))],
    defaults,
  });
}

test("every setting comes from the first source that has it, for any values of other sources and settings", () => {
  fc.assert(
    fc.property(said, (words) => {
      const merged = merge(words);
      for (const [name, { shown, wanted, configure }] of Object.entries(SETTINGS)) {
        const sides = SIDES.filter((side) => side !== "configuration" || configure !== undefined);
        const first = sides.find((side) => words[name]?.includes(side));
        expect([name, shown(merged)]).toEqual([name, wanted(first)]);
      }
    }),
  );
});

test("the cache is overwritten if any source requests it", () => {
  fc.assert(
    fc.property(fc.subarray([...SIDES]), (sides) => {
      const merged = merge({}, (side) => ({ overwriteCache: sides.includes(side) }));
      expect(merged.overwriteCache).toBe(sides.length > 0);
    }),
  );
});

test("a false interruptible overrides later sources, except in the configuration", () => {
  const word = fc.constantFrom(true, false, undefined);
  fc.assert(
    fc.property(fc.tuple(word, word, word, word, word), (words) => {
      const merged = merge({}, (side) => {
        const settings = words[SIDES.indexOf(side)];
        return settings === undefined ? {} : { interruptible: settings };
      });
      const configured = words[4] === true ? true : undefined;
      const first = [...words.slice(0, 4), configured].find((each) => each !== undefined);
      expect(merged.interruptible).toBe(first);
    }),
  );
});
