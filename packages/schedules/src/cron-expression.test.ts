import fc from "fast-check";
import { expect, test } from "vitest";
import { parseCron } from "./cron-expression.js";

const problem = (text: string) => {
  const parsed = parseCron(text);
  return parsed.ok ? undefined : parsed.problem;
};

test.each([
  "0 10 * * *",
  "*/15 0-6 1,15 jan-MAR mon",
  "@hourly",
  "@every 1h30m",
  "CRON_TZ=Europe/Berlin 0 6 * * ?",
  "TZ=UTC @daily",
  "TZ=Local 0 0 * * *",
  "CRON_TZ= * * * * *",
  "0 0 * * 0",
  "5/10 * * * *",
  "  0 0 * * *  ",
  "*-5 * * * *",
  "*-2-3 * * * *",
  ",, * * * *",
  "+5 */+5 * * mon,",
  "*/100 * * * *",
])("%j is a schedule", (text) => expect(problem(text)).toBeUndefined());

test.each([
  ["", "empty"],
  ["hourly", "5 fields"],
  ["0 10 * * ? *", "5 fields"],
  ["@fortnightly", "descriptor"],
  ["@Hourly", "descriptor"],
  [" @hourly", "5 fields"],
  ["@hourly ", "descriptor"],
  ["@every5s", "descriptor"],
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
  ["TZ=+01:00 * * * * *", "time zone"],
  ["TZ=UTC", "5 fields"],
])("%j is refused as a schedule", (text, rule) => expect(problem(text)).toContain(rule));

test.each([
  ["@every 90s", 90_000],
  ["@every 1.5h", 5_400_000],
  ["@every 1999ms", 1000],
  ["@every 300ms", 1000],
  ["@every -5m", 1000],
])("%j is rounded to whole seconds, at least one", (text, intervalMs) =>
  expect(parseCron(text)).toEqual({ ok: true, expression: { kind: "interval", intervalMs } }),
);

test("any text is parsed or refused with a reason", () => {
  const text = fc.string({ unit: fc.constantFrom("0", "1", "5", "59", "*", "/", ",", "-", "?", " ", "@", "TZ=", "every", "mon") });
  fc.assert(
    fc.property(text, (given) => {
      const parsed = parseCron(given);
      expect(parsed.ok || parsed.problem.length > 0).toBe(true);
    }),
  );
});
