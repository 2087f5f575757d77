import { expect, test } from "vitest";
import { LaunchRate } from "./launch-rate.js";

test("more than ten launches of one workflow in the current and the previous minute are frequent", () => {
  let now = 0;
  const rate = new LaunchRate(() => new Date(now));
  const launches = (workflow: string, times: number) => Array.from({ length: times }, () => rate.noteLaunch(workflow));
  expect(launches("a", 10)).toEqual(Array.from({ length: 10 }, () => false));
  expect(launches("b", 1)).toEqual([false]);
  expect(launches("a", 1)).toEqual([true]);
  now = 60_000;
  expect(launches("a", 2)).toEqual([true, true]);
  now = 120_000;
  expect(launches("a", 1)).toEqual([false]);
  now = 1_000_000;
  expect(launches("a", 10)).toEqual(Array.from({ length: 10 }, () => false));
  expect(launches("a", 1)).toEqual([true]);
});
