import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ContainerProcess, type ProcessExit } from "./container-process.js";
import { ProcessReaper } from "./process-reaper.js";
import { createRun } from "./run-dir.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "process-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const reaper = new ProcessReaper();

function launch(name: string, command: readonly string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<ProcessExit>();
  const run = createRun(join(folder, name), 0);
  const environment = new Map([["PATH", process.env["PATH"] ?? ""]]);
  const launched = ContainerProcess.launch(
    { podUid: `uid-${name}`, container: name, run, command, environment, directory: folder },
    { reaper, now: Date.now, onEnd: resolve, onFailure: reject },
  );
  return { launched, ended: promise, run };
}

test("a command can be stopped at any moment of its start", async () => {
  const one = async (i: number) => {
    const { launched, ended } = launch(`p${i}`, ["sleep", "600"]);
    // Busy-waits in steps of 20 µs: the critical moments last about ten microseconds, and timers
    // are coarser.
    const until = performance.now() + i / 50;
    while (performance.now() < until);
    launched.stop(20_000);
    const end = await ended;
    await launched.allExited;
    return end.exitCode;
  };
  const codes: number[] = [];
  for (let i = 0; i < 150; i++) codes.push(await one(i));
  expect(codes).toEqual(codes.map(() => 143));
});

test("a run is claimed once: a second start attaches to the first", async () => {
  const first = launch("twice", ["sh", "-c", `echo ran >> ${join(folder, "count")}; sleep 0.3; exit 7`]);
  await delay(100);
  const again = launch("twice", ["sh", "-c", `echo ran >> ${join(folder, "count")}; exit 8`]);
  expect([(await first.ended).exitCode, (await again.ended).exitCode]).toEqual([7, 7]);
  expect(readFileSync(join(folder, "count"), "utf8")).toBe("ran\n");
});

test("a second start attaches to a run whose runner has claimed it but not yet written its process id", async () => {
  const first = launch("slow", ["sh", "-c", "sleep 0.4; exit 7"]);
  const claim = join(first.run.path, "pid");
  let written = "";
  while (written === "") {
    await delay(10);
    written = existsSync(claim) ? readFileSync(claim, "utf8") : "";
  }
  writeFileSync(claim, "");
  const again = launch("slow", ["sh", "-c", "exit 8"]);
  await delay(250);
  writeFileSync(claim, written);
  expect((await again.ended).exitCode).toBe(7);
});
