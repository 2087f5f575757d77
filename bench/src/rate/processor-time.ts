import type { StackMemory } from "../memory.js";

/** Seconds of processor time by program. */
export type ProcessorTime = Readonly<Record<string, number>>;

/** What this client has used, and the programs of the stack where its folder is known. */
export function processorTime(memory: StackMemory | undefined): ProcessorTime {
  const { user, system } = process.cpuUsage();
  return { client: (user + system) / 1e6, ...memory?.cpuParts() };
}

/** Milliseconds of one call, without those that used next to nothing. */
export function timeOfCall(before: ProcessorTime, after: ProcessorTime, calls: number): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(after)
      .map(([name, seconds]) => [name, Math.round(((seconds - (before[name] ?? 0)) * 1e6) / calls) / 1_000] as const)
      .filter(([, ms]) => ms >= 0.005),
  );
}
