/** Each line that must not compile has an expectation; tsc fails when one of them compiles. */
import { each, eq, gt, launchPlan, t, task, when, workflow, type Ref, type Int } from "@flyte-ts/sdk";
import { trainingWorkflow, fit, getData, Hyper } from "./flows/train.ts";

const count = task({ inputs: { text: t.string }, outputs: t.int }, ({ text }) => text.length);
const half = task({ inputs: { x: t.float }, outputs: t.float }, ({ x }) => x / 2);
const colour = task({ outputs: t.enum("red", "green") }, () => "red");

// @ts-expect-error a text is no int
task({ outputs: t.int }, () => "1");
// @ts-expect-error an output is missing
task({ outputs: { a: t.int, b: t.int } }, () => ({ a: 1 }));
// @ts-expect-error no such input
task({ inputs: { a: t.int } }, ({ b }) => undefined);

workflow({ inputs: { n: t.int, words: t.list(t.string) }, outputs: t.float }, ({ n, words }) => {
  const length = count({ text: "abc" });
  // @ts-expect-error an int is no float: Flyte promotes nothing
  half({ x: length });
  // @ts-expect-error a required input is missing
  count({});
  // @ts-expect-error there is no such input
  count({ text: "a", txt: "b" });
  // @ts-expect-error a number is no text
  count({ text: 1 });
  // @ts-expect-error arithmetic needs values
  half({ x: length * 2 });
  // @ts-expect-error comparing needs values
  if (length > 3) half({ x: 1 });
  // @ts-expect-error comparing needs values
  if (length === 3) half({ x: 1 });
  // @ts-expect-error an int and a text are not compared
  when(eq(length, "3"), () => half({ x: 1 }));
  // @ts-expect-error lists are not compared
  gt(words, 3);
  // @ts-expect-error arms give different things
  when(gt(n, 3), () => half({ x: 1 })).otherwise(() => count({ text: "" }));
  // @ts-expect-error a list over an input that is no list
  each(count, { text: n });
  // @ts-expect-error what is not a list has to be given to each item
  each(fit, { hyper: [{ C: 1 }] }, {});
  // @ts-expect-error no such attribute
  fit({ table: getData(), hyper: { C: 1 } }).model.size;
  // @ts-expect-error no such colour
  when(eq(colour(), "blue"), () => 1);
  return half({ x: 1 });
});
// @ts-expect-error the function that builds a graph is not asynchronous: await belongs in eager()
workflow({ outputs: t.int }, async () => count({ text: "" }));
// @ts-expect-error an int is not the float that is declared
workflow({ inputs: { n: t.int }, outputs: t.float }, ({ n }) => n);
// @ts-expect-error no such input of the workflow
launchPlan(trainingWorkflow, { defaults: { hypr: { C: 1 } } });
// @ts-expect-error a fixed input cannot be given again
launchPlan(trainingWorkflow, { fixed: { hyper: { C: 1 } } })({ hyper: { C: 2 } });
const handler = task({ inputs: { other: t.int } }, () => undefined);
// @ts-expect-error the failure handler wants what the workflow does not have
workflow({ inputs: { n: t.int }, onFailure: handler }, () => undefined);
async function outside(ref: Ref<Int>) {
  // @ts-expect-error a reference has no value yet
  await ref;
  // @ts-expect-error the value of an input is checked
  await fit.run({ hyper: { C: "1" } });
  const { accuracy } = await trainingWorkflow.run({});
  accuracy satisfies number;
  void Hyper;
}
