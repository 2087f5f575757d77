import { afterAll, beforeAll, describe } from "vitest";
import { eagerCases } from "./eager-cases.js";
import { echoesCases } from "./echoes-cases.js";
import { errorsCases } from "./errors-cases.js";
import { languagesCases } from "./languages-cases.js";
import { type ProjectStack, startProjectStack } from "./project-stack.fixture.js";
import { registrationCases } from "./registration-cases.js";

// All groups of cases use one stack, and a copy of the project each.
let started: ProjectStack | undefined;
beforeAll(async () => {
  started = await startProjectStack();
}, 400_000);
afterAll(() => started?.close(), 60_000);
const running = (): ProjectStack => {
  if (started === undefined) throw new Error("the stack is not started");
  return started;
};

describe("registration", () => {
  registrationCases(running);
});
describe("errors of tasks", () => {
  errorsCases(running);
});
describe("tasks that the engine executes", () => {
  echoesCases(running);
});
describe("eager tasks", () => {
  eagerCases(running);
});
describe("workflows of two languages", () => {
  languagesCases(running);
});
