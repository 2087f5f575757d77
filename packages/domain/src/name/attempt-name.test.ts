import fc from "fast-check";
import { expect, test } from "vitest";
import { childExecutionName, nodeUniqueId, taskGeneratedName, taskUniqueId } from "./attempt-name.js";
import { randomExecutionName, singleTaskNodeId, singleTaskWorkflowName } from "./execution.js";
import { dns1123Subdomain, executionNamespace, sanitizeLabelValue } from "./kubernetes.js";

const execution = "am967k6vv84f8d5snc47";

test("short names stay readable", () => {
  expect(nodeUniqueId({ nodeId: "n0" })).toBe("n0");
  expect(nodeUniqueId({ parent: { uniqueId: "n1", attempt: 0 }, nodeId: "n0" })).toBe("n1-0-n0");
  expect(taskUniqueId({ execution, nodeUniqueId: "n0", attempt: 0 })).toBe("am967k6vv84f8d5snc47-n0-0");
});

test("a generated name is valid in Kubernetes even if the node's id is not", () => {
  expect(taskGeneratedName({ execution, nodeUniqueId: "exampleGetData", attempt: 0 })).toBe(`${execution}-example-get-data-0`);
  expect(taskGeneratedName({ execution, nodeUniqueId: "aBcDeFgHiJkLmNoPqRsT", attempt: 11 }).length).toBeLessThanOrEqual(50);
});

test("names derived from any parts respect their lengths and are unique", () => {
  const part = fc.stringMatching(/^[a-z][a-z0-9-]{0,70}$/);
  fc.assert(
    fc.property(part, part, fc.nat(20), (name, node, attempt) => {
      const id = nodeUniqueId({ parent: { uniqueId: nodeUniqueId({ nodeId: node }), attempt }, nodeId: node });
      expect(id.length).toBeLessThanOrEqual(20);
      const of = { execution: name.slice(0, 63), nodeUniqueId: id, attempt };
      expect(taskGeneratedName(of).length).toBeLessThanOrEqual(50);
      expect(taskGeneratedName(of)).not.toBe(taskGeneratedName({ ...of, attempt: attempt + 1 }));
      expect(childExecutionName(of)).toMatch(/^[a-z][a-z0-9-]{0,19}$/);
    }),
  );
});

test("any text becomes a valid label value and a valid subdomain, or undefined", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      expect(sanitizeLabelValue(text)).toMatch(/^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$/);
      expect(dns1123Subdomain(text).length).toBeLessThanOrEqual(253);
    }),
  );
});

test("random execution names are the letter a and 19 characters without vowels, for any random number", () => {
  expect(randomExecutionName(() => 0)).toBe(`a${"b".repeat(19)}`);
  expect(randomExecutionName(() => 1 - Number.EPSILON)).toBe(`a${"9".repeat(19)}`);
  expect(randomExecutionName(Math.random)).toMatch(/^a[bcdfghjklmnpqrstvwxz2456789]{19}$/);
});

test("the node of a single-task execution is named after the end of the task's name", () => {
  expect(singleTaskNodeId("my_package.my-module.get_data")).toBe("mypackagemy-modulegetdata");
  expect(singleTaskNodeId(`x${"a.b".repeat(21)}`)).toBe("ab".repeat(21));
  expect(singleTaskNodeId(`ß${"é".repeat(32)}`)).toBe("é".repeat(31));
  expect(singleTaskWorkflowName("m.t")).toBe(".flytegen.m.t");
});

test("namespaces are rendered from the template, literally", () => {
  expect(executionNamespace("p", "d")).toBe("p-d");
  expect(executionNamespace("$&", "{{ project }}", "x-{{ domain }}-{{project}}-{{ project }}")).toBe("x-{{ project }}-$&-$&");
});
