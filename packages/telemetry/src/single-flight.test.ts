import { expect, it } from "vitest";
import { SingleFlight } from "./single-flight.js";

it("does once what many ask for meanwhile, and anew what is asked for later", async () => {
  const flights = new SingleFlight<number>();
  const land: ((result: number) => void)[] = [];
  const work = () => new Promise<number>((resolve) => land.push(resolve));
  const asked = [flights.run("a", work), flights.run("a", work), flights.run("b", work)];
  expect(land.length).toBe(2);
  land[0]?.(1);
  land[1]?.(2);
  expect(await Promise.all(asked)).toEqual([1, 1, 2]);
  const later = flights.run("a", work);
  land[2]?.(3);
  expect(await later).toBe(3);
});

it("tells all who asked that it failed, and tries again for the next", async () => {
  const flights = new SingleFlight<string>();
  const fail = () => Promise.reject(new Error("not there"));
  const asked = await Promise.allSettled([flights.run("a", fail), flights.run("a", fail)]);
  expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await flights.run("a", () => Promise.resolve("there"))).toBe("there");
});
