// Each line after an expectation must not compile: tsc fails when one of them does.
import { and, each, eq, gt, isTrue, launchPlan, lt, type Ref, t, task, when, workflow, WorkflowBuilder } from "@flyte-ts/sdk";
import type { Int } from "@flyte-ts/sdk/types";
import { fit, getData, trainingWorkflow } from "./flows/train.ts";

const count = task({ inputs: { text: t.string }, outputs: t.int }, ({ text }) => text.length);
const half = task({ inputs: { x: t.float }, outputs: t.float }, ({ x }) => x / 2);
const colour = task({ outputs: t.enum("red", "green") }, () => "red" as const);
const maybe = task({ outputs: t.optional(t.float) }, () => null);
const nothing = task({ inputs: {} }, () => undefined);

// @ts-expect-error a string is no int
task({ outputs: t.int }, () => "1");
// @ts-expect-error an output is missing
task({ outputs: { a: t.int, b: t.int } }, () => ({ a: 1 }));
// @ts-expect-error no such input
task({ inputs: { a: t.int } }, ({ b }) => void b);
// @ts-expect-error no such name of the enum
task({ outputs: t.enum("red", "green") }, () => "blue" as const);
// @ts-expect-error a duration has a unit
task({ timeout: "10" }, () => undefined);
// @ts-expect-error the default of a float is a number
t.default(t.float, "1");

workflow({ inputs: { n: t.int, words: t.list(t.string), at: t.datetime }, outputs: t.float }, ({ n, words, at }) => {
  const length = count({ text: "abc" });
  // @ts-expect-error an int is no float: Flyte promotes nothing
  half({ x: length });
  // @ts-expect-error a required input is missing
  count({});
  // @ts-expect-error there is no such input
  count({ text: "a", txt: "b" });
  // @ts-expect-error a number is no string
  count({ text: 1 });
  // @ts-expect-error a task without inputs takes none
  nothing({ x: 1 });
  // @ts-expect-error arithmetic needs values
  half({ x: length * 2 });
  // @ts-expect-error a comparison needs values
  if (length > 3) half({ x: 1 });
  // @ts-expect-error a comparison needs values
  if (length === 3) half({ x: 1 });
  // @ts-expect-error an int and a string are not compared
  when(eq(length, "3"), () => half({ x: 1 }));
  // @ts-expect-error lists are not compared
  gt(words, 3);
  // @ts-expect-error a datetime is compared with a Date
  lt(at, 3);
  // @ts-expect-error an int is no condition
  isTrue(n);
  // @ts-expect-error a conjunction has two conditions at least
  and(gt(n, 1));
  // @ts-expect-error arms give different types
  when(gt(n, 3), () => half({ x: 1 })).otherwise(() => count({ text: "" }));
  // @ts-expect-error a list over an input that is no list
  each(count, { text: n });
  // @ts-expect-error inputs that are no lists have to be given to each item
  each(fit, { hyper: [{ C: 1 }] }, {});
  // @ts-expect-error items that may fail give null
  half({ x: each(half, { x: [1, 2] }, { minSuccessRatio: 0.5 })[0]! });
  // @ts-expect-error no such attribute
  void fit({ table: getData(), hyper: { C: 1 } }).model.size;
  // @ts-expect-error Flyte compares no enums
  when(eq(colour(), "red"), () => half({ x: 1 }));
  // @ts-expect-error an optional value may be missing
  half({ x: maybe() });
  // @ts-expect-error an object is made of values alone
  fit({ table: getData(), hyper: { C: half({ x: 1 }) } });
  return half({ x: 1 });
});
// @ts-expect-error a function that builds a graph is not asynchronous: await belongs in eager()
workflow({ outputs: t.int }, async () => count({ text: "" }));
// @ts-expect-error an int is not the declared float
workflow({ inputs: { n: t.int }, outputs: t.float }, ({ n }) => n);
// @ts-expect-error no such input of the workflow
launchPlan(trainingWorkflow, { defaults: { hypr: { C: 1 } } });
// @ts-expect-error a fixed input cannot be given again
launchPlan(trainingWorkflow, { fixed: { hyper: { C: 1 } } })({ hyper: { C: 2 } });
const handler = task({ inputs: { other: t.int } }, () => undefined);
// @ts-expect-error the failure handler needs an input that the workflow lacks
workflow({ inputs: { n: t.int }, onFailure: handler }, () => undefined);
// @ts-expect-error the output of a step has another type
new WorkflowBuilder({ name: "w" }).output("x", t.float, count({ text: "" }));

export async function outside(ref: Ref<Int>): Promise<void> {
  // @ts-expect-error a reference has no value yet
  await ref;
  // @ts-expect-error the values of inputs are checked
  await fit.run({ hyper: { C: "1" } });
  const { accuracy } = await trainingWorkflow.run({});
  // @ts-expect-error an output is a number
  accuracy satisfies string;
}
