import type { StackMemory } from "../memory.js";

/** Processor time by program, s. */
export type CpuTime = Readonly<Record<string, number>>;

/** Processor time of this client, and of the stack's programs where its folder is known. */
export function readCpuTime(memory: StackMemory | undefined): CpuTime {
  const { user, system } = process.cpuUsage();
  return { client: (user + system) / 1e6, ...memory?.cpuParts() };
}

/** Processor time per call in ms, without programs that used almost none. */
export function cpuMsPerCall(before: CpuTime, after: CpuTime, calls: number): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(after)
      .map(([name, seconds]) => [name, Math.round(((seconds - (before[name] ?? 0)) * 1e6) / calls) / 1_000] as const)
      .filter(([, ms]) => ms >= 0.005),
  );
}
