import fc from "fast-check";
import { expect, test } from "vitest";
import { cronProblem } from "./cron.js";

test.each([
  "0 10 * * *",
  "*/15 0-6 1,15 jan-MAR mon",
  "@hourly",
  "@every 1h30m",
  "CRON_TZ=Europe/Berlin 0 6 * * ?",
  "TZ=UTC @daily",
  "0 0 * * 0",
  "5/10 * * * *",
  "  0 0 * * *  ",
  "*-5 * * * *",
])("%j is a schedule", (text) => expect(cronProblem(text)).toBeUndefined());

test.each([
  ["", "empty"],
  ["hourly", "5 fields"],
  ["0 10 * * ? *", "5 fields"],
  ["@fortnightly", "descriptor"],
  ["@every 5", "duration"],
  ["60 * * * *", "maximum"],
  ["* * 0 * *", "minimum"],
  ["* * * * 7", "maximum"],
  ["5-1 * * * *", "begins"],
  ["*/0 * * * *", "positive"],
  ["*/2/3 * * * *", "slashes"],
  ["1-2-3 * * * *", "hyphens"],
  ["x * * * *", "number"],
  ["-1 * * * *", "number"],
  ["CRON_TZ=Mars/Base 0 0 * * *", "time zone"],
  ["TZ=UTC", "5 fields"],
])("%j is none", (text, rule) => expect(cronProblem(text)).toContain(rule));

test("any text is read or refused with a reason", () => {
  const text = fc.string({ unit: fc.constantFrom("0", "1", "5", "59", "*", "/", ",", "-", "?", " ", "@", "TZ=", "every", "mon") });
  fc.assert(
    fc.property(text, (given) => {
      const problem = cronProblem(given);
      expect(problem === undefined || problem.length > 0).toBe(true);
    }),
  );
});
