import fc from "fast-check";
import { expect, test } from "vitest";
import { allEventFilters, dataPlaneScope, eventOrigin, eventQueue } from "./data-plane.js";
import {
  executionEventSubject,
  executionRecordedSubject,
  pluginHelloSubject,
  taskEventSubject,
  taskRequestFilter,
  taskRequestSubject,
  executionWakeSubject,
} from "./subject.js";

const text = fc.string({ unit: "binary", minLength: 1 }).filter((given) => given.isWellFormed());

function matches(filter: string, subject: string): boolean {
  const [wanted, given] = [filter.split("."), subject.split(".")];
  return wanted.length === given.length && wanted.every((token, i) => token === "*" || token === given[i]);
}

test("a data plane without a name uses subjects as they are", () => {
  expect(dataPlaneScope("")).toBeUndefined();
});

test("subjects within a data plane contain its name, and subjects of admin's notices do not", () => {
  const scope = dataPlaneScope("east.1");
  expect(scope?.subject(taskRequestSubject("python-task", 7))).toBe("flyte.task.at.east%2E1.python-task.7");
  expect(scope?.subject(taskEventSubject(7))).toBe("flyte.event.at.east%2E1.task.7");
  expect(scope?.subject(pluginHelloSubject)).toBe("flyte.plugin.at.east%2E1.hello");
  expect(scope?.subject(executionRecordedSubject(7))).toBe(executionRecordedSubject(7));
  expect(scope?.subject(executionWakeSubject(7))).toBe(executionWakeSubject(7));
  expect(scope?.durable("plugin-echo")).toBe("plugin-echo=east%2E1");
});

test("no filter of one data plane matches a request of another, for any names of data planes and task types", () => {
  fc.assert(
    fc.property(fc.option(text, { nil: "" }), fc.option(text, { nil: "" }), text, text, (one, other, filtered, asked) => {
      const at = (cluster: string, subject: string) => dataPlaneScope(cluster)?.subject(subject) ?? subject;
      const taken = matches(at(one, taskRequestFilter(filtered)), at(other, taskRequestSubject(asked, 3)));
      expect(taken).toBe(one === other && filtered === asked);
    }),
  );
});

test("exactly one filter of the recorder matches each event of a data plane, and the subject gives its origin", () => {
  fc.assert(
    fc.property(fc.option(text, { nil: "" }), fc.constantFrom("task", "execution"), (cluster, kind) => {
      const plain = kind === "task" ? taskEventSubject(5) : executionEventSubject(5);
      const subject = dataPlaneScope(cluster)?.subject(plain) ?? plain;
      expect(allEventFilters.filter((filter) => matches(filter, subject))).toHaveLength(1);
      expect(eventOrigin(subject)).toEqual({ kind, cluster: cluster === "" ? undefined : cluster });
    }),
  );
  expect(eventOrigin(taskRequestSubject("task", 1))).toBeUndefined();
});

test("events of a shard share a queue, and shards and data planes have their own", () => {
  const queues = (cluster: string, shard: number) => {
    const scoped = (subject: string) => eventQueue(dataPlaneScope(cluster)?.subject(subject) ?? subject);
    return new Set([taskEventSubject(shard), executionEventSubject(shard)].map(scoped));
  };
  const all = ["", "east", "task"].flatMap((cluster) => [0, 7, 17].map((shard) => queues(cluster, shard)));
  for (const queue of all) expect(queue.size).toBe(1);
  expect(new Set(all.flatMap((queue) => [...queue])).size).toBe(all.length);
});
