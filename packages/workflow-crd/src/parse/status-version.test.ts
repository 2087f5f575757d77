import { expect, test } from "vitest";
import { STATUS_VERSION } from "../model/status.js";
import { StatusTooNewError } from "./status-version.js";
import { Field } from "./field.js";
import { parseStatus } from "./status.js";
import { referencesOf } from "./workflow.js";

test("a status that requires a newer build is rejected before it is parsed", () => {
  const of = (requires: unknown) => () =>
    referencesOf({ status: { phase: 1, requires, slices: requires === 9 ? { version: 0 } : undefined } });
  expect(of(undefined)).not.toThrow();
  expect(of(STATUS_VERSION)).not.toThrow();
  expect(of(9)).toThrow(new StatusTooNewError("status.requires is 9: a newer version of propeller wrote it; this one reads up to 1"));
});

test("unknown fields of workflow and node statuses are kept", () => {
  const status = {
    phase: 2,
    later: { a: 1 },
    nodeStatus: { n0: { phase: 1, later: [1], subNodeStatus: { n1: { phase: 2, later: "x" } } } },
  };
  expect(parseStatus(new Field(status, "status"))).toEqual(status);
});
