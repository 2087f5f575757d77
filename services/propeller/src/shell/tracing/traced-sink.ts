import type { EventSink } from "../event-sink/event-sink.js";
import type { ExecutionSpans } from "./execution-spans.js";

/** Wraps a sink and derives spans from its events. */
export function tracedSink(sink: EventSink, spans: ExecutionSpans | undefined): EventSink {
  if (spans === undefined) return sink;
  const { recorded } = sink;
  return {
    ...(recorded && { recorded: (key: string) => recorded.call(sink, key) }),
    publish: (key, event, asLongAs) => {
      spans.told(key, event);
      return sink.publish(key, event, asLongAs);
    },
  };
}
