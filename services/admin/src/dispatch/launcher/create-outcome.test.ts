import { KubeError } from "@flyte-ts/kubernetes";
import { expect, test } from "vitest";
import { classifyCreateError } from "./create-outcome.js";

const answer = (status: number, reason = "", message = "") => new KubeError(message, { status, reason });

test.each([
  ["there already", answer(409, "AlreadyExists"), "done"],
  ["no namespace", answer(404, "NotFound"), "namespace"],
  ["bad request", answer(400, "BadRequest"), "refused"],
  ["invalid", answer(422, "Invalid"), "refused"],
  ["forbidden", answer(403, "Forbidden", "exceeded quota"), "refused"],
  ["too large", answer(413), "refused"],
  ["a namespace that goes", answer(403, "Forbidden", "namespace p-d is being terminated"), "later"],
  ["no answer", answer(0), "later"],
  ["unauthorized", answer(401), "later"],
  ["overload", answer(429), "later"],
  ["server error", answer(500), "later"],
  ["conflict", answer(409, "Conflict"), "later"],
  ["anything else", new Error("boom"), "later"],
] as const)("%s", (_, error, verdict) => {
  expect(classifyCreateError(error)).toBe(verdict);
});
