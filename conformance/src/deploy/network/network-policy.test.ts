import { expect, test } from "vitest";
import { allows, type End, type Policy } from "./network-policy.js";

const pod = (labels: Record<string, string>, namespace = "a"): End => ({
  namespace,
  namespaceLabels: { name: namespace },
  labels,
  ports: { http: 80 },
});
const policy = (spec: Policy["spec"]): Policy => ({ metadata: { namespace: "a" }, spec });
const one = pod({ app: "one" });
const two = pod({ app: "two" });
const http = { port: 80, protocol: "TCP" } as const;

test("pods that no policy of their namespace selects accept every connection", () => {
  const closed = policy({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
  expect(allows([], { from: one, to: two, ...http })).toBe(true);
  expect(allows([closed], { from: one, to: two, ...http })).toBe(false);
  expect(allows([closed], { from: pod({}, "b"), to: pod({}, "b"), ...http })).toBe(true);
});

test("both ends must allow a connection", () => {
  const out = policy({
    podSelector: { matchLabels: { app: "one" } },
    policyTypes: ["Egress"],
    egress: [{ ports: [{ port: 80, protocol: "TCP" }] }],
  });
  const closed = policy({ podSelector: { matchLabels: { app: "two" } }, policyTypes: ["Ingress"] });
  expect(allows([out], { from: one, to: two, ...http })).toBe(true);
  expect(allows([out], { from: one, to: two, port: 81, protocol: "TCP" })).toBe(false);
  expect(allows([out], { from: one, to: two, port: 80, protocol: "UDP" })).toBe(false);
  expect(allows([out, closed], { from: one, to: two, ...http })).toBe(false);
});

test("peers are of the policy's namespace unless they name one, and names of ports are those of the pod", () => {
  const named = policy({
    podSelector: {},
    policyTypes: ["Ingress"],
    ingress: [
      {
        from: [{ podSelector: { matchExpressions: [{ key: "app", operator: "In", values: ["one"] }] } }],
        ports: [{ port: "http", protocol: "TCP" }],
      },
      { from: [{ namespaceSelector: { matchLabels: { name: "c" } } }] },
    ],
  });
  const to = two;
  expect(allows([named], { from: one, to, ...http })).toBe(true);
  expect(allows([named], { from: two, to, ...http })).toBe(false);
  expect(allows([named], { from: pod({ app: "one" }, "b"), to, ...http })).toBe(false);
  expect(allows([named], { from: pod({}, "c"), to, port: 1, protocol: "TCP" })).toBe(true);
  expect(allows([named], { from: { ip: "192.0.2.1" }, to, ...http })).toBe(false);
});

test("an address matches its CIDR block", () => {
  const block = policy({ podSelector: {}, policyTypes: ["Egress"], egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8" } }] }] });
  const to = [{ ip: "10.255.0.1" }, { ip: "11.0.0.1" }, two];
  expect(to.map((end) => allows([block], { from: one, to: end, ...http }))).toEqual([true, false, false]);
});

test("an unsupported field of a policy is an error", () => {
  const except = { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } as { cidr: string };
  const block = policy({ podSelector: {}, policyTypes: ["Egress"], egress: [{ to: [{ ipBlock: except }] }] });
  expect(() => allows([block], { from: one, to: { ip: "10.2.0.1" }, ...http })).toThrow("except");
});
