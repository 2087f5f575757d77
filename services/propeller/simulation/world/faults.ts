import type { Random } from "../random.js";

/** Probabilities of faults; all become 0 when the fair phase of the schedule starts. */
export interface Faults {
  /** A message confirmed as stored is lost. */
  busLoss: number;
  busDuplicate: number;
  /** Maximum delay of a message, ms; different delays reorder messages. */
  busDelay: number;
  /** Propeller's process ends, at any step. */
  propellerCrash: number;
  pluginCrash: number;
  /** A status write happens but its response is lost, or the other way round. */
  writeUnknown: number;
  /** Another client changes the resource. */
  concurrentWrite: number;
  staleRead: number;
  blobError: number;
  /** A call, or its result, is lost in transit. */
  callError: number;
  /** A running pod is removed externally. */
  podRemoved: number;
  /** One of several propellers is paused, at any step, without noticing it afterwards. */
  processPause: number;
  /** Reads and writes of Leases are slow, or their responses are lost. */
  slowLeases: number;
  /** Probability per second that one of several propellers is requested to shut down. */
  gracefulExit: number;
}

export const NO_FAULTS: Faults = {
  busLoss: 0,
  busDuplicate: 0,
  busDelay: 5,
  propellerCrash: 0,
  pluginCrash: 0,
  writeUnknown: 0,
  concurrentWrite: 0,
  staleRead: 0,
  blobError: 0,
  callError: 0,
  podRemoved: 0,
  processPause: 0,
  slowLeases: 0,
  gracefulExit: 0,
};

/**
 * Each kind of fault occurs in about half of the worlds, so that many worlds have only a few kinds.
 */
export function randomFaults(random: Random): Faults {
  const some = (most: number): number => (random.chance(0.5) ? random.between(0, most) : 0);
  return {
    busLoss: some(0.15),
    busDuplicate: some(0.3),
    busDelay: random.pick([2, 20, 200, 3_000]),
    propellerCrash: some(0.03),
    pluginCrash: some(0.03),
    writeUnknown: some(0.2),
    concurrentWrite: some(0.1),
    staleRead: some(0.2),
    blobError: some(0.3),
    callError: some(0.3),
    podRemoved: some(0.2),
    processPause: some(0.02),
    slowLeases: some(0.1),
    gracefulExit: some(0.02),
  };
}
