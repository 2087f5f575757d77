import type { Bus } from "./bus.js";

/** Maps names on a bus that several parties share. */
export interface BusScope {
  subject(subject: string): string;
  /** Maps the name of a durable consumer. */
  durable(name: string): string;
}

/**
 * Wraps a bus for one party, which names subjects and consumers as if it were alone. Streams are shared, and messages
 * keep the subjects on which they came. Without a scope this is the bus itself.
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
    publishVolatile: (to, data) => bus.publishVolatile(subject(to), data),
    subscribe: (options, onMessages) => bus.subscribe(scoped(options), onMessages),
    subscribeOwn: async (options, onMessages) => {
      const own = await bus.subscribeOwn(scoped(options), onMessages);
      return { follow: (subjects) => own.follow(subjects.map(subject)), close: () => own.close() };
    },
    removeConsumer: (stream, name) => bus.removeConsumer(stream, durable(name)),
    subscribeVolatile: (to, onMessage) => bus.subscribeVolatile(subject(to), onMessage),
    problem: () => bus.problem(),
    close: () => bus.close(),
  };
}
