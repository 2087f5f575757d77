import { KubeError } from "@flyte-ts/kubernetes";
import { expect, test } from "vitest";
import { classifyCreateError } from "./create-outcome.js";

const answer = (status: number, reason = "", message = "") => new KubeError(message, { status, reason });

test.each([
  ["there already", answer(409, "AlreadyExists"), "exists"],
  ["no namespace", answer(404, "NotFound"), "namespace-missing"],
  ["bad request", answer(400, "BadRequest"), "rejected"],
  ["invalid", answer(422, "Invalid"), "rejected"],
  ["forbidden", answer(403, "Forbidden", "exceeded quota"), "rejected"],
  ["too large", answer(413), "rejected"],
  ["a namespace in deletion", answer(403, "Forbidden", "namespace p-d is being terminated"), "retry"],
  ["no answer", answer(0), "retry"],
  ["unauthorized", answer(401), "retry"],
  ["overload", answer(429), "retry"],
  ["server error", answer(500), "retry"],
  ["conflict", answer(409, "Conflict"), "retry"],
  ["anything else", new Error("boom"), "retry"],
] as const)("%s", (_, error, verdict) => {
  expect(classifyCreateError(error)).toBe(verdict);
});
