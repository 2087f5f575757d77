import type { Bus } from "./bus.js";

/** Maps names on a bus that several parties share. */
export interface BusScope {
  subject(subject: string): string;
  /** Maps the name of a durable consumer. */
  durable(name: string): string;
}

/**
 * Wraps a bus for one party, which names subjects and consumers as if it were alone. Streams are
 * shared, and messages keep the subjects on which they came. Without a scope this is the bus
 * itself.
 */
export function scopedBus(bus: Bus, scope: BusScope | undefined): Bus {
  if (scope === undefined) return bus;
  const { subject, durable } = scope;
  const scoped = <T extends { readonly durable: string; readonly subjects: readonly string[] }>(options: T): T => ({
    ...options,
    durable: durable(options.durable),
    subjects: options.subjects.map(subject),
  });
  return {
    ensureStream: (spec) => bus.ensureStream(spec),
    publish: (to, data, options) => bus.publish(subject(to), data, options),
    publishEphemeral: (to, data) => bus.publishEphemeral(subject(to), data),
    subscribe: (options, onMessages) => bus.subscribe(scoped(options), onMessages),
    subscribeExclusive: async (options, onMessages) => {
      const own = await bus.subscribeExclusive(scoped(options), onMessages);
      return { setSubjects: (subjects) => own.setSubjects(subjects.map(subject)), close: () => own.close() };
    },
    removeConsumer: (stream, name) => bus.removeConsumer(stream, durable(name)),
    findConsumers: async (stream, names) => {
      const found = await bus.findConsumers(stream, names.map(durable));
      return new Map(names.flatMap((name) => (found.has(durable(name)) ? [[name, found.get(durable(name)) ?? ""] as const] : [])));
    },
    subscribeEphemeral: (to, onMessage) => bus.subscribeEphemeral(subject(to), onMessage),
    unhealthyReason: () => bus.unhealthyReason(),
    onConnectionChange: (listener) => bus.onConnectionChange(listener),
    close: () => bus.close(),
  };
}
